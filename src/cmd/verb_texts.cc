// What each verb is for, in the words of its help page. Flags are described where they are declared
// (app.cc).
#include "cmd/grammar.h"

namespace tau::cmd {

std::span<const VerbText> verb_texts() {
  static constexpr VerbText texts[] = {
      {"", "queue, schedule and explain AI work on GPU clusters",
       "tau up --detach --nodes 2x8xH100   start the platform here, with two simulated 8-GPU "
       "nodes\n"
       "tau run --gpus 1 -- nvidia-smi     queue a command that gets one GPU\n"
       "tau ps                             runs and their state\n"
       "tau why RUN                        why one waits, with numbers\n"
       "tau down                           stop the platform; its state is kept",
       "tau is the whole of TauGrid in one program: the platform on one machine (up), the "
       "scheduler for a\n"
       "Kubernetes cluster (controller), and the command line that speaks to either.\n"
       "A verb that needs a server finds it by --kubeconfig, else KUBECONFIG, ~/.tau/kubeconfig "
       "(written by\n"
       "tau up), ~/.kube/config. Data goes to standard output, talk to standard error; NO_COLOR is "
       "heeded.",
       "0 ok, 1 internal, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out, 7 "
       "refused,\n"
       "8 the run's own code failed, 9 the platform failed the run, 10 some of many failed,\n"
       "11 server unreachable, 12 version skew, 130 interrupted",
       "tau VERB --help"},
      {"up", "start the whole platform on this machine",
       "tau up --detach --nodes 2x8xH100   in the background, with two simulated 8-GPU nodes\n"
       "tau up --state /srv/tau            in the foreground, state elsewhere\n"
       "tau up --nodes fleet.yaml          nodes from a file\n"
       "tau up --print-config              what it would run with",
       "Starts a Kubernetes-compatible API server, queues, the scheduler, this machine as a node "
       "(with its\n"
       "GPUs, if it has any) and simulated nodes, in one process. Pods run as local processes; "
       "images are not\n"
       "pulled, commands run on this machine's files. Stock kubectl works with the kubeconfig it "
       "writes.\n"
       "State lies in ~/.tau (or --state DIR). Nodes and port are remembered for the next start. "
       "SIGTERM, or\n"
       "tau down, stops it and leaves running pods running; the next start finds them again.",
       "0 stopped cleanly, or ready (--detach); 2 usage; 5 a platform runs on this state; 6 not "
       "ready in 30 s",
       "tau down, tau status, tau doctor"},
      {"down", "stop the platform on this machine",
       "tau down          stop; running work goes on and is found again at the next start\n"
       "tau down --pods   stop, and end all work",
       "Waits until the platform has ended, and says how many containers still run. Stopping what "
       "does not\n"
       "run is no error. State and history are kept.",
       "0 stopped; 6 it does not end", "tau up"},
      {"status", "server, nodes and runs at a glance", "tau status\ntau status -o json", "",
       "0 it answers; 11 it does not", "tau doctor, tau node list, tau queue list"},
      {"controller", "run the scheduler and controllers against an API server",
       "tau controller --kubeconfig ~/.kube/config\n"
       "tau controller --metrics-port 9090   with /metrics, /healthz and /readyz on 127.0.0.1\n"
       "tau controller --once-ready          exit 0 once everything is in: a check that it could "
       "run\n"
       "tau controller --install-policy      once, with the rights of an administrator",
       "The same control plane as in tau up, over any Kubernetes API server. One of several leads, "
       "by the\n"
       "Lease kube-system/taugrid-controller; the others wait. It places pods with schedulerName "
       "taugrid and\n"
       "admits Jobs that carry the label kueue.x-k8s.io/queue-name. If it stops, what runs runs "
       "on.\n"
       "--install-policy makes the API server itself suspend the Jobs of queues at creation, in "
       "namespaces\n"
       "labelled taugrid.io/managed=true; kubectl delete -f deploy/policy.yaml takes it back.",
       "0 stopped; 3 no queue objects there, or no such policies; 5 another took the lease; 11 "
       "server unreachable",
       "tau up"},
      {"run", "queue a command as a run",
       "tau run --gpus 1 -- nvidia-smi\n"
       "tau run --gpus 8 --nodes 4 --name train --wait -- torchrun train.py\n"
       "tau run --queue research --priority high --env SEED=1 -- python eval.py\n"
       "tau run -f job.yaml --wait",
       "Makes a Job in the namespace and lets it wait in its queue. With --nodes N it is an "
       "Indexed Job of N\n"
       "pods that are placed together or not at all. --wait says each change of state and ends "
       "with the run.",
       "0 submitted, or succeeded (--wait); 8 the run's own code failed; 9 the platform failed it, "
       "or it was\n"
       "cancelled; 130 interrupted (the run goes on)",
       "tau ps, tau why, tau logs, tau cancel"},
      {"ps", "runs and their state",
       "tau ps\ntau ps -A --history   all namespaces; also runs whose objects are gone\n"
       "tau ps -w             the run, its Job and its pods together, as they change\n"
       "tau ps -o name | xargs -n1 tau show",
       "STATE is Queued, Starting, Running, Succeeded, Failed or Cancelled. NOTE is the first "
       "reason to wait,\n"
       "or how the run ended. -w -o jsonl gives one object a line with type ADDED, MODIFIED or "
       "DELETED.",
       "", "tau show, tau why"},
      {"show", "everything known about a run, also after its objects are gone",
       "tau show train\ntau show r-8f31a2 -o yaml",
       "Attempts, pods, nodes, GPU ids, times and outcome. RUN is a name, a run id, or a unique "
       "start of an id.",
       "0 found; 3 no such run", "tau why, tau logs"},
      {"why", "why a run waits: all causes in order, with numbers",
       "tau why train\ntau why r-8f31a2 -o json",
       "The first cause is the one to act on. Reasons and who acts on them: "
       "docs/reference/reasons.md.",
       "0 answered; 3 no such run", "tau queue list, tau node list"},
      {"logs", "what a run or pod has written",
       "tau logs train\ntau logs -f train           follow to its end; waits for the start\n"
       "tau logs train --tail 20 --timestamps\ntau logs train-0-x7k2p      one pod",
       "A run of several pods is shown together, each line after the name of its pod. Without -f "
       "it never\n"
       "waits.",
       "0 shown; 3 no such run or pod, or nothing started yet", "tau show"},
      {"cancel", "end a run", "tau cancel train\ntau cancel r-8f31a2 --yes",
       "Deletes the run's Job and so its pods, which get their grace period. What it was stays in "
       "history.\n"
       "Asks first on a terminal; needs --yes without one.",
       "0 cancelled; 2 not confirmed; 3 no such run; 5 it has ended already", "tau ps"},
      {"queue", "queues", "tau queue list", "", "", ""},
      {"queue list", "queues, who waits in them and what they use",
       "tau queue list\ntau queue list -o wide", "", "", "tau why"},
      {"node", "nodes", "tau node list", "", "", ""},
      {"node list", "nodes and what runs on them", "tau node list -o wide\ntau node list -o json",
       "", "", "tau queue list"},
      {"apply", "create or change objects from manifests",
       "tau apply -f queues.yaml\ntau apply -f - <job.yaml\ntau apply -f a.yaml -f b.yaml",
       "All manifests are read before anything is written. An object that exists is changed by a "
       "merge patch;\n"
       "what the manifest does not name is left alone.",
       "0 all applied; 2 a manifest is wrong; 10 some failed", "tau run -f"},
      {"doctor", "check this machine and the way to the server", "tau doctor\ntau doctor -o json",
       "Checks state folder, disk, server, clock, rights, limits, mounts, kubectl and GPUs. A "
       "warning says what\n"
       "will not work and why.",
       "0 no check failed; 10 some did", "tau status"},
      {"version", "version of this program, and of the server",
       "tau version\ntau version --short\ntau version --server -o json", "",
       "0 shown; 11 server unreachable", ""},
      {"completion", "print completion for a shell",
       "source <(tau completion bash)\ntau completion zsh >~/.zfunc/_tau\ntau completion fish | "
       "source",
       "Completes verbs, flags, their values, and the names of live runs, queues and nodes.", "",
       ""},
      {"scenario", "play scenario files against the scheduling engine",
       "tau scenario scenarios/kueue.yaml scenarios/foundation.yaml\ntau scenario --id C-14 "
       "scenarios/kueue.yaml\ntau scenario --plane scenarios/kueue.yaml",
       "A scenario says a cluster, its queues and work, and what must be decided. A line for each "
       "that differs\n"
       "(want, got) or that the engine does not cover (not supported: ...), then the counts.\n"
       "With --plane the same is played through the API and the whole control plane.",
       "0 none failed; 2 a file cannot be read; 10 some failed", "tau simulate"},
      {"simulate", "run in virtual time: the whole platform with faults, or a published experiment",
       "tau simulate --seed 1..100\ntau simulate --seed 7 --log\n"
       "tau simulate --experiment x14\ntau simulate --experiment all --data ~/traces",
       "With --seed: the whole platform with faults, checked after each event. Everything that a "
       "seed does, it does\n"
       "again: the same seed gives the same log to the byte.\n"
       "With --experiment: what was published, what comes out here, the difference, the pass band. "
       "The data is not part\n"
       "of the program: --data or TAU_DATA_DIR names the folder.",
       "0 all held; 1 an experiment is outside its band; 2 data cannot be read; 10 some check of a "
       "seed failed",
       "tau scenario"},
      {"bench", "measure this build on this machine", "tau bench engine --json", "", "", ""},
      {"bench engine", "time the scheduling engine; medians",
       "tau bench engine\ntau bench engine --runs 9 --json", "", "", ""},
      {"bench apiserver",
       "time the embedded API server, in process and as tau up serves it; medians",
       "tau bench apiserver\ntau bench apiserver --runs 9 --json",
       "Callers and server share one thread: the figures are of both together. State goes to a "
       "folder of its own under the temporary folder, which is removed at the end.",
       "", ""},
  };
  return texts;
}

const VerbText& text_of(std::string_view path) {
  static constexpr VerbText none{};
  for (const VerbText& text : verb_texts()) {
    if (text.path == path) return text;
  }
  return none;
}

}  // namespace tau::cmd
