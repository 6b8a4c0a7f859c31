#include "host/process_runtime.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "host/files.h"
#include "host/process_table.h"
#include "host/testing/test_world.h"

namespace tau::host {
namespace {

using kubelet::ContainerId;
using kubelet::ContainerSpec;
using kubelet::ContainerState;
using Phase = ContainerState::Phase;

const ContainerId main_id{"uid-1", "main", 0};

class Containers : public ::testing::Test {
 protected:
  Containers() { open(); }
  ~Containers() override {
    runtime_->remove_pod("uid-1");
    runtime_->remove_pod("uid-2");
    wait_for(loop_,
             [&] { return !file_exists(folder_ / "uid-1") && !file_exists(folder_ / "uid-2"); });
  }
  // A new life of the platform over the same files.
  void open() {
    runtime_.reset();
    states_.clear();
    runtime_ = std::make_unique<ProcessRuntime>(loop_, folder_.path(), TAU_SHIM_FOR_TESTS, Log());
    for (auto& [id, state] : runtime_->list()) states_[id] = state;
    runtime_->observe([this](const ContainerId& id, const ContainerState& state) {
      states_[id] = state;
      history_.push_back(state.phase);
    });
  }
  ContainerSpec shell(const std::string& script) {
    return {.id = main_id, .ns = "default", .pod_name = "pod-1", .argv = {"/bin/sh", "-c", script}};
  }
  const ContainerState& run(ContainerSpec spec) {
    const ContainerId id = spec.id;
    runtime_->start(std::move(spec));
    EXPECT_TRUE(wait_for_end(id)) << log();
    return states_[id];
  }
  bool wait_for_phase(const ContainerId& id, Phase phase) {
    return wait_for(loop_, [&] { return states_[id].phase == phase; });
  }
  bool wait_for_end(const ContainerId& id) { return wait_for_phase(id, Phase::exited); }
  std::string log(kubelet::LogQuery query = {}, const ContainerId& id = main_id) {
    std::string text;
    bool is_done = false;
    auto stop = runtime_->read_log(
        id, std::move(query), [&](std::string_view bytes) { text += bytes; },
        [&](Result<void>) { is_done = true; });
    EXPECT_TRUE(wait_for(loop_, [&] { return is_done; }));
    return text;
  }

  TempFolder folder_;
  AsioLoop loop_;
  std::unique_ptr<ProcessRuntime> runtime_;
  std::map<ContainerId, ContainerState> states_;
  std::vector<Phase> history_;
};

TEST_F(Containers, RunToTheirEnd) {
  const ContainerState& state = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(state.exit_code, 3);
  EXPECT_EQ(state.signal, 0);
  EXPECT_FALSE(state.is_oom_killed);
  EXPECT_TRUE(state.started && state.ended && *state.started <= *state.ended);
  const std::string text = log();
  EXPECT_TRUE(text == "out\nerr\n" || text == "err\nout\n") << text;
}

TEST_F(Containers, TellWhyTheyCannotStart) {
  struct Case {
    std::string name;
    ContainerSpec spec;
    int exit_code;
    std::string message;
  };
  std::ofstream(folder_ / "plain.txt") << "no program";
  chmod((folder_ / "plain.txt").c_str(), 0644);
  ContainerSpec elsewhere = shell("true");
  elsewhere.working_dir = "/no/such/folder";
  ContainerSpec no_host_path = shell("true");
  no_host_path.volumes = {
      {.name = "v", .kind = kubelet::Volume::Kind::host_path, .host_path = "/no/such"}};
  ContainerSpec nothing = shell("");
  nothing.argv.clear();
  ContainerSpec leaves = shell("true");
  leaves.volumes = {
      {.name = "v", .kind = kubelet::Volume::Kind::files, .files = {{"../../x", "y"}}}};
  const Case cases[] = {
      {"no such command",
       {.id = main_id, .argv = {"no-such-tool"}},
       127,
       "exec: \"no-such-tool\": executable file not found in $PATH"},
      {"no such path",
       {.id = main_id, .argv = {"/no/tool"}},
       127,
       "exec: \"/no/tool\": stat /no/tool: No such file or directory"},
      {"not executable",
       {.id = main_id, .argv = {folder_ / "plain.txt"}},
       126,
       "permission denied"},
      {"working folder", elsewhere, 128, "cannot enter workingDir \"/no/such/folder\""},
      {"host path", no_host_path, 128, "hostPath /no/such does not exist"},
      {"no command", nothing, 128, "needs a command"},
      {"leaves the volume", leaves, 128, "leaves the volume"},
  };
  int restart = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    ContainerSpec spec = one.spec;
    spec.id.restart = restart++;
    const ContainerState& state = run(spec);
    EXPECT_EQ(state.exit_code, one.exit_code);
    EXPECT_NE(state.message.find(one.message), std::string::npos) << state.message;
  }
}

TEST_F(Containers, SeeOnlyTheirOwnEnvironment) {
  setenv("SECRET_OF_THE_PLATFORM", "x", 1);
  ContainerSpec spec = shell("env | sort");
  spec.env = {{"A", "one two"}, {"CUDA_VISIBLE_DEVICES", "0"}};
  spec.gpus = {{.uuid = "GPU-real-1", .product = "p", .memory_bytes = 1}};
  run(spec);
  const std::string text = log();
  EXPECT_EQ(text.find("SECRET"), std::string::npos) << text;
  for (const char* wanted : {"A=one two\n", "HOSTNAME=pod-1\n", "CUDA_VISIBLE_DEVICES=GPU-real-1\n",
                             "NVIDIA_VISIBLE_DEVICES=GPU-real-1\n", "PATH=/usr/local/sbin:"}) {
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted << " in\n" << text;
  }
}

TEST_F(Containers, HoldNoFileOfThePlatform) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);  // without close-on-exec, as libraries may open them
  run(shell("ls /proc/self/fd | wc -l; ls /proc/$PPID/fd"));
  close(pipes[0]);
  close(pipes[1]);
  const std::string text = log();
  EXPECT_TRUE(text.starts_with("4\n")) << text;  // 0, 1, 2 and the folder that ls reads
}

TEST_F(Containers, EndWithTheirWholeTree) {
  // A grandchild in a session of its own, which ignores TERM.
  runtime_->start(
      shell("setsid sh -c 'trap \"\" TERM; echo $$ > $0/pid; while :; do sleep 0.1; done' " +
            folder_.path() + " & trap 'exit 7' TERM; while :; do sleep 0.1; done"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  pid_t grandchild = 0;
  ASSERT_TRUE(wait_for(
      loop_, [&] { return std::ifstream(folder_ / "pid") >> grandchild && grandchild > 0; }));
  runtime_->signal(main_id, SIGTERM);
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].exit_code, 7);
  EXPECT_FALSE(read_process(grandchild));
}

TEST_F(Containers, DieByKill) {
  runtime_->start(shell("trap '' TERM; while :; do sleep 0.1; done"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  runtime_->signal(main_id, SIGTERM);
  runtime_->signal(main_id, SIGKILL);
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].exit_code, 137);
  EXPECT_EQ(states_[main_id].signal, SIGKILL);
}

TEST_F(Containers, TakeASignalThatCameBeforeTheyWereThere) {
  runtime_->start(shell("sleep 1000"));
  runtime_->signal(main_id, SIGKILL);
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].signal, SIGKILL);
}

TEST_F(Containers, AreFoundAgainRunning) {
  runtime_->start(
      shell("while [ ! -e " + (folder_ / "go") + " ]; do sleep 0.05; done; echo done; exit 5"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  const int64_t pid = states_[main_id].pid;
  open();
  ASSERT_EQ(states_[main_id].phase, Phase::running);
  EXPECT_EQ(states_[main_id].pid, pid);
  std::ofstream(folder_ / "go") << "";
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].exit_code, 5);
  EXPECT_EQ(log(), "done\n");
}

TEST_F(Containers, AreFoundAgainEnded) {
  runtime_->start(shell("while [ ! -e " + (folder_ / "go") + " ]; do sleep 0.05; done; exit 6"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  const auto shim = read_process(static_cast<pid_t>(states_[main_id].pid))->parent;
  runtime_.reset();
  std::ofstream(folder_ / "go") << "";
  ASSERT_TRUE(wait_for(loop_, [&] {
    loop_.post([] {});
    return !is_alive(shim, read_process(shim) ? read_process(shim)->start_ticks : 0);
  }));
  open();
  EXPECT_EQ(states_[main_id].phase, Phase::exited);
  EXPECT_EQ(states_[main_id].exit_code, 6);
}

TEST_F(Containers, WhoseShimWasKilledAreLostNotForgotten) {
  runtime_->start(shell("sleep 1000"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  const auto pid = static_cast<pid_t>(states_[main_id].pid);
  kill(read_process(pid)->parent, SIGKILL);
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].exit_code, 137);
  EXPECT_EQ(states_[main_id].message, "the process ended without a record of how");
  EXPECT_TRUE(wait_for(loop_, [&] {
    loop_.post([] {});
    return !read_process(pid) || read_process(pid)->state == 'Z';
  }));
}

TEST_F(Containers, ThatWereNeverClaimedDoNotRun) {
  const std::string folder = folder_ / "uid-1/containers/main/0";
  ASSERT_TRUE(make_folder(folder));
  ASSERT_TRUE(write_file(folder + "/plan.json", R"({"argv":["/bin/true"]})"));
  open();
  EXPECT_TRUE(states_.empty());
  EXPECT_FALSE(file_exists(folder));
}

TEST_F(Containers, SeeTheirVolumes) {
  if (!runtime_->capabilities().has_private_mounts)
    GTEST_SKIP() << runtime_->capabilities().mounts_reason;
  const std::string host = folder_ / "host";
  ASSERT_TRUE(make_folder(host));
  ASSERT_TRUE(write_file(host + "/given", "from the host\n"));
  const std::string inner = folder_ / "made/here";
  ContainerSpec spec =
      shell("cat /tau-config/a/key; cat /tau-host/given; echo w > /tau-work/file; cat " + inner +
            "/file; { echo x > /tau-config/a/key; } 2>&1; cat /etc/hostname-tau; ls /tmp > "
            "/dev/null && echo tmp");
  spec.volumes = {{.name = "config",
                   .kind = kubelet::Volume::Kind::files,
                   .files = {{"a/key", "value\n", 0600}, {"one", "single\n"}}},
                  {.name = "work"},
                  {.name = "host", .kind = kubelet::Volume::Kind::host_path, .host_path = host}};
  spec.mounts = {{"config", "/tau-config", "", true},
                 {"work", "/tau-work"},
                 {"work", inner},
                 {"host", "/tau-host/"},
                 {"config", "/etc/hostname-tau", "one"}};
  const ContainerState& state = run(spec);
  EXPECT_EQ(state.exit_code, 0) << state.message;
  const std::string text = log();
  EXPECT_TRUE(text.starts_with("value\nfrom the host\nw\n")) << text;
  EXPECT_NE(text.find("Read-only file system"), std::string::npos) << text;
  EXPECT_NE(text.find("single\ntmp\n"), std::string::npos) << text;
  for (const std::string& path :
       {std::string("/tau-config"), std::string("/tau-work"), std::string("/tau-host"),
        std::string("/etc/hostname-tau"), folder_ / "made"}) {
    EXPECT_FALSE(file_exists(path)) << path << " appeared on the machine";
  }
}

TEST_F(Containers, ShareAPodsVolume) {
  if (!runtime_->capabilities().has_private_mounts)
    GTEST_SKIP() << runtime_->capabilities().mounts_reason;
  for (const bool is_memory : {false, true}) {
    ContainerSpec first = shell("echo shared > /tau-work/f");
    first.id = {"uid-1", is_memory ? "m1" : "d1", 0};
    first.volumes = {{.name = is_memory ? "mem" : "disk", .is_memory = is_memory}};
    first.mounts = {{first.volumes[0].name, "/tau-work"}};
    ContainerSpec second = first;
    second.id.container = is_memory ? "m2" : "d2";
    second.argv.back() = "cat /tau-work/f";
    run(first);
    run(second);
    EXPECT_EQ(log({}, second.id), "shared\n");
  }
}

TEST_F(Containers, SeeTheirSimulatedGpusAlsoInALoginShell) {
  ContainerSpec spec = shell("");
  spec.argv = {
      "/bin/bash", "-lc",
      "env -i /usr/bin/nvidia-smi -L || nvidia-smi -L; nvidia-smi --query-gpu=uuid,memory.total "
      "--format=csv,noheader,nounits; nvidia-smi; echo $CUDA_VISIBLE_DEVICES"};
  spec.gpus = {{"GPU-51300000-0000-0000-0000-000000000001", "NVIDIA-H100-80GB-HBM3", 80LL << 30},
               {"GPU-51300000-0000-0000-0000-000000000002", "NVIDIA-H100-80GB-HBM3", 80LL << 30}};
  const ContainerState& state = run(spec);
  EXPECT_EQ(state.exit_code, 0) << state.message;
  const std::string text = log();
  EXPECT_NE(
      text.find("GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-51300000-0000-0000-0000-000000000002)\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("GPU-51300000-0000-0000-0000-000000000001, 81920\n"), std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with(
      "GPU-51300000-0000-0000-0000-000000000001,GPU-51300000-0000-0000-0000-000000000002\n"))
      << text;
}

TEST_F(Containers, AreHeldToTheirMemory) {
  if (!runtime_->capabilities().enforces_memory)
    GTEST_SKIP() << runtime_->capabilities().limits_reason;
  ContainerSpec spec = shell("a=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#a}");
  spec.memory_limit_bytes = 32 << 20;
  const ContainerState& state = run(spec);
  EXPECT_TRUE(state.is_oom_killed) << state.exit_code << " " << log();
  EXPECT_EQ(state.exit_code, 137);
}

TEST_F(Containers, WithLimitsTheyDoNotMeetEndWell) {
  ContainerSpec spec = shell("echo fine");
  spec.memory_limit_bytes = 256 << 20;
  spec.cpu_limit_milli = 250;
  const ContainerState& state = run(spec);
  EXPECT_EQ(state.exit_code, 0) << state.message;
  EXPECT_FALSE(state.is_oom_killed);
}

TEST_F(Containers, GoWithTheirPod) {
  runtime_->start(shell("sleep 1000"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  const auto pid = static_cast<pid_t>(states_[main_id].pid);
  runtime_->remove_pod("uid-1");
  EXPECT_TRUE(runtime_->list().empty());
  ASSERT_TRUE(wait_for(loop_, [&] { return !file_exists(folder_ / "uid-1"); }));
  EXPECT_FALSE(is_alive(pid, read_process(pid) ? read_process(pid)->start_ticks : 0));
  EXPECT_EQ(states_[main_id].phase, Phase::running);  // nobody was told of its end
}

TEST_F(Containers, GoWithTheirPodAlsoWhenItWasRemovedJustAfterTheStart) {
  runtime_->start(shell("sleep 1000"));
  runtime_->remove_pod("uid-1");
  bool was_there = false;
  ASSERT_TRUE(wait_for(loop_, [&] {
    const bool is_there = file_exists(folder_ / "uid-1");
    was_there |= is_there;
    return was_there && !is_there;
  }));
  EXPECT_TRUE(runtime_->list().empty());
}

TEST_F(Containers, WhoseRemovalWasCutOffGoInTheNextLife) {
  runtime_->start(shell("trap '' TERM; sleep 1000"));
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  runtime_.reset();
  ASSERT_TRUE(write_file(folder_ / "uid-1/removed", ""));
  open();
  EXPECT_TRUE(states_.empty());
  EXPECT_TRUE(wait_for(loop_, [&] { return !file_exists(folder_ / "uid-1"); }));
}

TEST_F(Containers, ThatAreTimedEndWithoutAProcess) {
  ContainerSpec spec{.id = main_id, .sim_duration = milliseconds(30), .sim_exit_code = 4};
  const ContainerState& state = run(spec);
  EXPECT_EQ(state.exit_code, 4);
  EXPECT_EQ(*state.ended - *state.started, milliseconds(30));
  EXPECT_EQ(history_, (std::vector{Phase::running, Phase::exited}));
  open();
  EXPECT_EQ(states_[main_id].phase, Phase::exited);
}

TEST_F(Containers, ThatAreTimedSurviveARestart) {
  ContainerSpec spec{.id = main_id, .sim_duration = seconds(3600), .sim_exit_code = 4};
  runtime_->start(spec);
  ASSERT_TRUE(wait_for_phase(main_id, Phase::running));
  const auto started = states_[main_id].started;
  open();
  ASSERT_EQ(states_[main_id].phase, Phase::running);
  EXPECT_EQ(states_[main_id].started, started);
  runtime_->signal(main_id, SIGTERM);
  ASSERT_TRUE(wait_for_end(main_id));
  EXPECT_EQ(states_[main_id].exit_code, 143);
}

TEST_F(Containers, LogsAreReadAsAsked) {
  run(shell("i=1; while [ $i -le 300 ]; do echo line $i; i=$((i+1)); done; printf end"));
  EXPECT_EQ(log({.tail_lines = 2}), "line 300\nend");
  EXPECT_EQ(log({.tail_lines = 0}), "");
  EXPECT_EQ(log({.limit_bytes = 8}), "line 1\nl");
  EXPECT_EQ(log({.since = loop_.now() + seconds(60)}), "");
  EXPECT_EQ(log({.since = loop_.now() - seconds(3600)}).size(), log().size());
  const std::string stamped = log({.tail_lines = 1, .timestamps = true});
  EXPECT_TRUE(stamped.ends_with("Z end") && stamped.starts_with("20")) << stamped;
  EXPECT_EQ(log({}, {"uid-1", "other", 0}), "");
}

TEST_F(Containers, LogsAreFollowedToTheEnd) {
  runtime_->start(
      shell("echo first; while [ ! -e " + (folder_ / "go") + " ]; do sleep 0.05; done; echo last"));
  std::string text;
  bool is_done = false;
  auto stop = runtime_->read_log(
      main_id, {.follow = true}, [&](std::string_view bytes) { text += bytes; },
      [&](Result<void>) { is_done = true; });
  ASSERT_TRUE(wait_for(loop_, [&] { return text == "first\n"; }));
  EXPECT_FALSE(is_done);
  std::ofstream(folder_ / "go") << "";
  ASSERT_TRUE(wait_for(loop_, [&] { return is_done; }));
  EXPECT_EQ(text, "first\nlast\n");
}

TEST_F(Containers, LogsWaitForASlowReader) {
  run(
      shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789012345678901234567890123456789; "
            "i=$((i+1)); done"));
  size_t size = 0, pieces = 0;
  bool may_read = true, is_done = false;
  kubelet::LogQuery query;
  query.may_read = [&] { return std::exchange(may_read, !may_read); };
  auto stop = runtime_->read_log(
      main_id, query,
      [&](std::string_view bytes) {
        size += bytes.size();
        ++pieces;
      },
      [&](Result<void>) { is_done = true; });
  ASSERT_TRUE(wait_for(loop_, [&] { return is_done; }));
  EXPECT_EQ(size, 20000u * 41);
  EXPECT_GT(pieces, 2u);
}

TEST_F(Containers, KeepTheirFoldersApart) {
  ContainerSpec spec = shell("true");
  spec.id = {"../escape", "main", 0};
  runtime_->start(spec);
  ASSERT_TRUE(wait_for_end(spec.id));
  EXPECT_EQ(states_[spec.id].exit_code, 128);
  EXPECT_FALSE(file_exists(folder_.path() + "/../escape"));
}

}  // namespace
}  // namespace tau::host
