// The command line without a server: grammar, help, completion, manifests, output, configuration.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cmd/app.h"
#include "cmd/errors.h"
#include "cmd/grammar.h"
#include "cmd/local_views.h"
#include "cmd/manifests.h"
#include "cmd/metrics_door.h"
#include "cmd/output.h"
#include "cmd/run_views.h"
#include "cmd/up_config.h"
#include "meta/json.h"

namespace tau::cmd {
namespace {
namespace json = boost::json;

struct Said {
  int code = 0;
  std::string out, err;
};

Said say(std::vector<std::string> words) {
  Said said;
  Console console;
  console.out = [&](std::string_view text) { said.out += text; };
  console.err = [&](std::string_view text) { said.err += text; };
  said.code = app(std::move(words), console);
  return said;
}

TEST(CommandLine, RefusesWithTheCauseAndTheWayOut) {
  struct Case {
    std::vector<std::string> words;
    std::string want;
  };
  const std::vector<Case> cases{
      {{"pss"},
       "error[TG-CLI-001]: unknown verb \"pss\"\n  cause   did you mean \"ps\"?\n  fix     tau "
       "--help\n"},
      {{"ps", "--historyy"},
       "error[TG-CLI-001]: tau ps has no flag --historyy\n  cause   did you mean \"--history\"?\n"
       "  fix     tau ps --help\n"},
      {{"queue"}, "error[TG-CLI-001]: tau queue needs a verb: list\n  fix     tau queue --help\n"},
      {{"queue", "lst"},
       "error[TG-CLI-001]: unknown verb \"queue lst\"\n  cause   did you mean \"list\"?\n"
       "  fix     tau queue --help\n"},
      {{"show"},
       "error[TG-CLI-001]: tau show needs RUN\n"
       "  cause   RUN is the name, run id, or unique start of an id\n  fix     tau show --help\n"},
      {{"run", "--gpus"},
       "error[TG-CLI-001]: --gpus needs a value: --gpus N\n  fix     tau run --help\n"},
      {{"run", "--gpus", "x", "--", "ls"},
       "error[TG-CLI-001]: --gpus wants a number, not \"x\"\n  fix     tau run --help\n"},
      {{"run", "python", "--lr", "3"},
       "error[TG-CLI-001]: tau run has no flag --lr\n  fix     tau run --help; flags of the "
       "command itself go "
       "after --:  tau run --gpus 1 -- CMD --flag\n"},
      {{"run"},
       "error[TG-RUN-001]: a run needs a command or a manifest, and not both\n"
       "  fix     tau run --gpus 1 -- nvidia-smi    or    tau run -f job.yaml\n"},
      {{"-o", "jsn", "ps"},
       "error[TG-CLI-002]: unknown output format \"jsn\": table, wide, json, jsonl, yaml or name; "
       "did you mean "
       "json?\n  --> -o\n"},
      {{"completion", "basj"},
       "error[TG-CLI-003]: no completion for \"basj\"\n  cause   did you mean \"bash\"?\n"
       "  fix     tau completion bash|zsh|fish\n"},
      {{"simulate", "--seed", "9..3"},
       "error[TG-SIM-001]: --seed wants a number or A..B, not \"9..3\"\n"},
      {{"up", "--durability", "some", "--check-config"},
       "error[TG-CFG-010]: durability is full or normal, not some\n  --> --durability\n"
       "  docs    tau up --help\n"},
  };
  for (const Case& one : cases) {
    const Said said = say(one.words);
    EXPECT_EQ(said.code, 2) << one.words.back();
    EXPECT_EQ(said.err, one.want);
    EXPECT_EQ(said.out, "");
  }
}

TEST(CommandLine, ASilentServerIsExitEleven) {
  const Said said = say({"ps", "--kubeconfig", "/nonexistent/kubeconfig"});
  EXPECT_EQ(said.code, 11);
  EXPECT_NE(said.err.find("tau up --detach"), std::string::npos) << said.err;
}

TEST(CommandLine, HelpLeadsWithExamplesForEveryVerb) {
  for (const VerbText& text : verb_texts()) {
    std::vector<std::string> words{"help"};
    for (std::string_view rest = text.path; !rest.empty();) {
      const size_t space = std::min(rest.find(' '), rest.size());
      words.emplace_back(rest.substr(0, space));
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    const Said said = say(words);
    EXPECT_EQ(said.code, 0) << text.path;
    const size_t examples = said.out.find("\nExamples\n"), usage = said.out.find("\nUsage\n");
    EXPECT_NE(examples, std::string::npos) << text.path;
    EXPECT_LT(examples, usage) << text.path;
    EXPECT_FALSE(text.summary.empty());
    words.erase(words.begin());
    words.emplace_back("--help");
    EXPECT_EQ(say(words).out, said.out);
  }
}

TEST(CommandLine, Version) {
  EXPECT_EQ(say({"version", "--short"}).out, say({"--version", "--short"}).out);
  EXPECT_EQ(say({"version"}).code, 0);
  EXPECT_EQ(say({"version", "-o", "json"}).out.substr(0, 2), "{\n");
}

std::string words_after(std::vector<std::string> words) {
  words.insert(words.begin(), "__complete");
  std::string text;
  const Said said = say(std::move(words));
  for (size_t at = 0; at < said.out.size();) {
    const size_t end = said.out.find('\n', at);
    const std::string line = said.out.substr(at, end - at);
    text += (text.empty() ? "" : " ") + line.substr(0, line.find('\t'));
    at = end + 1;
  }
  return text;
}

TEST(Completion, FollowsTheGrammar) {
  EXPECT_EQ(words_after({"p"}), "ps");
  EXPECT_EQ(words_after({"queue", ""}), "list");
  EXPECT_EQ(words_after({"ps", "-o", "j"}), "json jsonl");
  EXPECT_EQ(words_after({"ps", "--output=y"}), "--output=yaml");
  EXPECT_EQ(words_after({"completion", ""}), "bash zsh fish");
  EXPECT_EQ(words_after({"run", "--gp"}), "--gpus");
  EXPECT_EQ(words_after({"apply", "-f", ""}), "<files>");
  EXPECT_EQ(words_after({"run", "--", "l"}), "<files>");
  EXPECT_EQ(words_after({"-n", "team", "ps", "--phase", "S"}), "Starting Succeeded");
  EXPECT_EQ(words_after({"show", "--kubeconfig", "/nonexistent", ""}),
            "");  // no server: nothing, and no error
}

TEST(Completion, AsksForLiveNamesWhereTheyFit) {
  const VerbSpec root{.verbs = {{.name = "show", .arguments = {{.value = "RUN"}}}}};
  const LiveNames live = [](std::string_view kind) {
    return std::vector<Candidate>{{"train", std::string(kind)}, {"eval", ""}};
  };
  const std::vector<std::string> words{"show", "t"};
  EXPECT_EQ(complete(root, words, live), (std::vector<Candidate>{{"train", "RUN"}}));
}

TEST(Output, TablesPadByWhatIsSeen) {
  Table table({{"NAME"}, {"N", false, true}, {"WIDE", true}, {"NOTE"}});
  table.add({"é", "7", "x", Cell("bad", Tone::bad)});
  table.add({"longer", "12", "", ""});
  EXPECT_EQ(table.text(false, false), "NAME     N  NOTE\né        7  bad\nlonger  12  -\n");
  EXPECT_EQ(table.text(true, false),
            "NAME     N  WIDE  NOTE\né        7  x     bad\nlonger  12  -     -\n");
  EXPECT_NE(table.text(false, true).find("\x1b[31mbad\x1b[0m\n"), std::string::npos);
  EXPECT_EQ(shorten("héllo wörld", 8), "héllo...");
}

TEST(Output, MachineFormsReadBack) {
  const json::value value =
      json::parse(R"({"a":[1,{"b":"yes"}],"c":0.5,"d":"2026-12-01","e":[],"f":"x: y"})");
  EXPECT_EQ(json::parse(to_pretty_json(value)), value);
  EXPECT_EQ(to_yaml(value),
            "a:\n- 1\n- b: \"yes\"\nc: 0.5\nd: \"2026-12-01\"\ne: []\nf: \"x: y\"\n");
  EXPECT_EQ(json::serialize(list_object("RunList", {})),
            R"({"apiVersion":"view.taugrid.io/v1alpha1","kind":"RunList","items":[]})");
}

TEST(Manifests, EveryDocumentKnowsItsPlace) {
  const auto all = parse_manifests(
      "# queues\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n---\napiVersion: "
      "batch/v1\nkind: Job\n"
      "metadata:\n  name: b\n  namespace: team\nspec:\n  template:\n    spec:\n      containers:\n "
      "     - name: main\n"
      "        imag: x\n",
      "f.yaml", "default");
  ASSERT_TRUE(all) << all.error().what;
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].ns + "/" + (*all)[0].name, "default/a");
  EXPECT_EQ((*all)[1].ns + "/" + (*all)[1].name, "team/b");
  const auto where = [&](const char* message) {
    return located(Failure("x", ExitCode::usage, message), (*all)[1]).where;
  };
  EXPECT_EQ(where("strict decoding error: unknown field \"spec.template.spec.containers[0].imag\""),
            "f.yaml:17  spec.template.spec.containers[0].imag");
  EXPECT_EQ(where("Job.batch \"b\" is invalid: spec.template.spec.restartPolicy: Required value"),
            "f.yaml:14  spec.template.spec.restartPolicy");
  EXPECT_EQ(where("the server is tired"), "f.yaml:6");
  const auto cause = [&](const char* field) {
    return located(Failure("x", ExitCode::usage,
                           fmt::format("strict decoding error: unknown field \"{}\"", field)),
                   (*all)[1])
        .cause;
  };
  EXPECT_EQ(cause("spec.template.spec.containers[0].imag"), "did you mean \"image\"?");
  EXPECT_EQ(cause("spec.paralelism"), "did you mean \"parallelism\"?");
  EXPECT_EQ(cause("metadata.labls"), "did you mean \"labels\"?");
  EXPECT_EQ(cause("spec.nothing.like.it"), "");
}

TEST(Manifests, RefusesWithFileAndLine) {
  struct Case {
    const char* text;
    const char* where;
    const char* what;
    const char* cause;
  };
  const Case cases[] = {
      {"a: 1\n---\nkind: Job\n", "f.yaml:2", "a manifest without apiVersion", ""},
      {"apiVersion: v1\nkind: ConfigMop\n", "f.yaml:1",
       "kind \"ConfigMop\" of \"v1\" is not known here", "did you mean \"ConfigMap\"?"},
      {"apiVersion: v1\nkind: ConfigMap\n", "f.yaml:1", "a ConfigMap without metadata.name", ""},
      {"# nothing\n", "f.yaml", "there is no object in it", ""},
      {"just words\n", "f.yaml:1", "the document is not an object", ""},
  };
  for (const Case& one : cases) {
    const auto refused = parse_manifests(one.text, "f.yaml", "default");
    ASSERT_FALSE(refused) << one.text;
    if (std::string_view(one.text).starts_with("a: 1")) {
      EXPECT_EQ(refused.error().what, "a manifest without kind");
      continue;
    }
    EXPECT_EQ(refused.error().where, one.where);
    EXPECT_EQ(refused.error().what, one.what);
    EXPECT_EQ(refused.error().cause, one.cause);
  }
  const auto broken = parse_manifests(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: [\n", "f.yaml", "default");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().where.starts_with("f.yaml:")) << broken.error().where;
}

TEST(Manifests, AnOlderVersionBecomesThePreferredOne) {
  const auto all = parse_manifests(
      "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {cohort: "
      "c}\n",
      "f", "default");
  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(meta::string_at((*all)[0].object, "apiVersion"), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(meta::string_at((*all)[0].object, "spec.cohortName"), "c");
}

TEST(Config, FlagsWinAndUnknownKeysAreNamed) {
  const auto merged = merged_config({.nodes = "1x8xH100"},
                                    "nodes: 2x8xA100\nport: 7443\nlogLevel: debug\n", "c.yaml");
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_EQ(config_text(*merged),
            "nodes: 1x8xH100\nport: 7443\ndurability: full\nlogLevel: debug\n");
  const auto unknown = merged_config({}, "durabilty: full\n", "c.yaml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().what, "unknown key \"durabilty\"");
  EXPECT_EQ(unknown.error().cause, "did you mean \"durability\"?");
  EXPECT_FALSE(merged_config({}, "port: many\n", "c.yaml"));
  EXPECT_FALSE(merged_config({.port = 70000}, "", ""));
}

TEST(ExitCodes, SayWhoseFaultAnEndWas) {
  struct Case {
    const char* name;
    kube::RunView run;
    ExitCode want;
  };
  const Case cases[] = {
      {"succeeded", {.phase = "Succeeded"}, ExitCode::ok},
      {"cancelled", {.phase = "Cancelled"}, ExitCode::run_failed_infra},
      {"its own code",
       {.phase = "Failed", .pod_list = {{.reason = "Error", .exit_code = 3}}},
       ExitCode::run_failed},
      {"out of memory",
       {.phase = "Failed", .pod_list = {{.reason = "OOMKilled", .exit_code = 137}}},
       ExitCode::run_failed},
      {"node lost",
       {.phase = "Failed", .pod_list = {{.reason = "NodeLost"}}},
       ExitCode::run_failed_infra},
      {"too long", {.phase = "Failed", .reason = "DeadlineExceeded"}, ExitCode::run_failed},
  };
  for (const Case& one : cases) EXPECT_EQ(exit_of(one.run), one.want) << one.name;
  EXPECT_EQ(Failure(Error{ErrorCode::forbidden, ""}).exit, ExitCode::forbidden);
  EXPECT_EQ(Failure(Error{ErrorCode::unavailable, ""}).exit, ExitCode::unreachable);
}

// A cluster that knows Jobs, pods and Kueue, and nobody who serves views.
Try<json::value> plain_cluster(const std::string& target) {
  static const std::map<std::string, const char*> answers{
      {"/apis/batch/v1/namespaces/team/jobs",
       R"({"items":[{"metadata":{"name":"wait","namespace":"team","uid":"abcdef01-1","creationTimestamp":"2026-12-01T05:00:00Z","labels":{"kueue.x-k8s.io/queue-name":"main"}},"spec":{"parallelism":2,"completions":2,"suspend":true,"template":{"spec":{"containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"4"}}}]}}}}]})"},
      {"/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads",
       R"({"items":[{"metadata":{"name":"job-wait","namespace":"team","uid":"w","ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"wait","uid":"abcdef01-1","controller":true}]},"spec":{"queueName":"main","priority":10},"status":{"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending","message":"insufficient unused quota for nvidia.com/gpu, 3 more needed"}]}}]})"},
      {"/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues",
       R"({"items":[{"metadata":{"name":"main","namespace":"team"},"spec":{"clusterQueue":"all"}}]})"},
      {"/api/v1/nodes",
       R"({"items":[{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}}]})"},
  };
  const auto found = answers.find(target);
  if (found == answers.end()) return failed(Failure(Error{ErrorCode::not_found, "no " + target}));
  return json::parse(found->second);
}

TEST(LocalViews, AnswerFromPlainObjects) {
  const Time now = *parse_rfc3339("2026-12-01T05:10:00Z");
  const auto run =
      local_view("/apis/view.taugrid.io/v1alpha1/namespaces/team/runs/wait", plain_cluster, now);
  ASSERT_TRUE(run) << run.error().what;
  EXPECT_EQ(meta::string_at(*run, "phase"), "Queued");
  EXPECT_EQ(meta::string_at(*run, "queue"), "main");
  EXPECT_EQ(meta::string_at(*run, "clusterQueue"), "all");
  EXPECT_EQ(meta::string_at(*run, "note"),
            "insufficient unused quota for nvidia.com/gpu, 3 more needed");
  EXPECT_EQ(run->at("gpus").as_int64(), 8);
  const auto list = local_view("/apis/view.taugrid.io/v1alpha1/namespaces/team/runs?history=false",
                               plain_cluster, now);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->at("items").as_array().size(), 1u);
  const auto missing =
      local_view("/apis/view.taugrid.io/v1alpha1/namespaces/team/runs/none", plain_cluster, now);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit, ExitCode::not_found);
  const auto nodes = local_view("/apis/view.taugrid.io/v1alpha1/nodes", plain_cluster, now);
  ASSERT_TRUE(nodes);
  EXPECT_EQ(meta::string_at(nodes->at("items").as_array().at(0), "state"), "Ready");
  const auto queues = local_view("/apis/view.taugrid.io/v1alpha1/queues", plain_cluster, now);
  ASSERT_FALSE(queues);
  EXPECT_EQ(queues.error().what, "this cluster has no queues");
}

struct Caught : http::ResponseSink {
  explicit Caught(std::string& text) : text_(text) {}
  void head(http::ResponseHead head) override { text_ += std::to_string(head.status) + " "; }
  void body(std::string_view bytes) override { text_ += bytes; }
  void end() override {}
  size_t backlog_bytes() const override { return 0; }
  void on_closed(std::move_only_function<void()>) override {}
  std::string& text_;
};

TEST(MetricsDoor, ServesMetricsToThoseWhoMayReadThem) {
  bool is_ready = false;
  MetricsDoor door({.metrics = [] { return std::string("taugrid_cycles_total 1\n"); },
                    .is_ready = [&] { return is_ready; },
                    .token = "secret"});
  const auto ask = [&](const char* target, http::Headers headers = {}) {
    std::string text;
    door.handle({}, {.target = target, .headers = std::move(headers)},
                std::make_unique<Caught>(text));
    return text;
  };
  EXPECT_TRUE(ask("/metrics").starts_with("401 "));
  EXPECT_EQ(ask("/metrics", {{"authorization", "Bearer secret"}}), "200 taugrid_cycles_total 1\n");
  EXPECT_TRUE(ask("/readyz").starts_with("503 "));
  is_ready = true;
  EXPECT_EQ(ask("/readyz"), "200 ok");
  EXPECT_EQ(ask("/healthz"), "200 ok");
  EXPECT_TRUE(ask("/secret").starts_with("404 "));
}

}  // namespace
}  // namespace tau::cmd
