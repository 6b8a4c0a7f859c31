// Schema text: containers. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view container = R"schema(
package io.k8s.api.core.v1
type Container | One program of a pod.
  args []string | Further arguments.
  command []string | The program and its first arguments; the image's own by default.
  env []EnvVar merge=name | Environment variables.
  envFrom []EnvFromSource | Sources of many environment variables.
  image string | The container image.
  imagePullPolicy string | Always, IfNotPresent or Never.
  lifecycle Lifecycle | Actions after start and before stop.
  livenessProbe Probe | Restarts the container when it fails.
  name* string | Unique within the pod. Cannot be changed.
  ports []ContainerPort merge=containerPort | Ports that it listens on.
  readinessProbe Probe | Takes the pod out of services while it fails.
  resizePolicy []ContainerResizePolicy | What a change of resources does to the container.
  resources ResourceRequirements | What it asks for and may use at most.
  restartPolicy string | For init containers: Always makes it run beside the pod's containers.
  restartPolicyRules []ContainerRestartRule | Rules by exit code.
  securityContext SecurityContext | Rights of the container.
  startupProbe Probe | Holds the other probes back until it succeeds.
  stdin boolean | Whether standard input is kept open.
  stdinOnce boolean | Closes it after the first client.
  terminationMessagePath string | File whose text becomes the final message.
  terminationMessagePolicy string | File, or FallbackToLogsOnError.
  tty boolean | Whether it gets a terminal.
  volumeDevices []VolumeDevice merge=devicePath | Raw block volumes that it sees.
  volumeMounts []VolumeMount merge=mountPath | Volumes that it sees.
  workingDir string | The directory that it starts in.
type EnvVar | One environment variable.
  name* string | The variable's name.
  value string | Its value; $(OTHER) is replaced by an earlier variable.
  valueFrom EnvVarSource | Where the value comes from instead.
type EnvVarSource | Where a variable's value comes from.
  configMapKeyRef ConfigMapKeySelector | A key of a ConfigMap.
  fieldRef ObjectFieldSelector | A field of the pod.
  fileKeyRef FileKeySelector | A key of a file in a volume.
  resourceFieldRef ResourceFieldSelector | A request or limit of the container.
  secretKeyRef SecretKeySelector | A key of a Secret.
type ConfigMapKeySelector | One key of a ConfigMap.
  key* string | The key.
  name string | Name of the object.
  optional boolean | True lets the key be absent.
type ObjectFieldSelector | A field of the pod.
  apiVersion string | Version that the path is written in.
  fieldPath* string | Path such as metadata.name.
type FileKeySelector | One variable of a file in a volume.
  key* string | Key within the source.
  optional boolean | True lets the source be absent.
  path* string | Path, as named by the type.
  volumeName* string | Name of the volume.
type ResourceFieldSelector | A request or limit of a container.
  containerName string | The container; this one by default.
  divisor quantity | Unit of the value.
  resource* string | Path such as limits.cpu.
type SecretKeySelector | One key of a Secret.
  key* string | Key within the source.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
type EnvFromSource | A source of many variables.
  configMapRef ConfigMapEnvSource | All keys of a ConfigMap.
  prefix string | Put before each key.
  secretRef SecretEnvSource | All keys of a Secret.
type ConfigMapEnvSource | All keys of a ConfigMap as variables.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
type SecretEnvSource | All keys of a Secret as variables.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
type Lifecycle | Actions after start and before stop.
  postStart LifecycleHandler | Done right after the container is started.
  preStop LifecycleHandler | Done before the container is stopped; the grace period runs meanwhile.
  stopSignal string | Signal that stops the container; the image's own by default.
type LifecycleHandler | One action.
  exec ExecAction | Runs a command in the container.
  httpGet HTTPGetAction | Asks a URL.
  sleep SleepAction | Waits for some time.
  tcpSocket TCPSocketAction | Opens a connection.
type ExecAction | Runs a command in the container.
  command []string | The command and its arguments.
type HTTPGetAction | Asks a URL.
  host string | Host; the pod by default.
  httpHeaders []HTTPHeader | Headers to send.
  path string | Path of the URL.
  port* int_or_string | Port number or name.
  protocol string | Version of HTTP to speak.
  scheme string | HTTP or HTTPS.
type HTTPHeader | A header to send.
  name* string | Its name.
  value* string | Its value.
type SleepAction | Waits for some time.
  seconds* int64 | How many seconds.
type TCPSocketAction | Opens a connection.
  host string | Host; the pod by default.
  port* int_or_string | Port number or name.
type Probe | A health check of a container.
  exec ExecAction | By command.
  failureThreshold int32 | Failures in a row that count as failed.
  grpc GRPCAction | By gRPC health service.
  httpGet HTTPGetAction | By URL.
  initialDelaySeconds int32 | Seconds before the first check.
  periodSeconds int32 | Seconds between checks.
  successThreshold int32 | Successes in a row that count as healthy.
  tcpSocket TCPSocketAction | By connection.
  terminationGracePeriodSeconds int64 | Seconds between TERM and KILL after a failed check.
  timeoutSeconds int32 | Seconds a check may take.
type GRPCAction | Asks a gRPC health service.
  mode string | Permission bits of the file or directory.
  port* int32 | Port number.
  service string | Service name.
type ContainerPort | A port that a container listens on.
  containerPort* int32 | Port in the pod.
  hostIP string | Address on the node.
  hostPort int32 | Port on the node.
  name string | Name for services.
  protocol string | TCP, UDP or SCTP.
type ContainerResizePolicy | What a change of one resource does to the container.
  resourceName* string | Name of the resource.
  restartPolicy* string | When it is started again.
type ResourceRequirements | What a container asks for and may use at most.
  claims []ResourceClaim | Resource claims of the pod that the container uses.
  limits map:quantity | The most it may use, by resource.
  requests map:quantity | What is set aside for it, by resource; defaults to the limits.
type ResourceClaim | A claim of the pod that the container uses.
  name* string | Name of the thing referred to, or of this entry.
  request string | One request of the claim; all by default.
type ContainerRestartRule | Decides a restart by how the container ended.
  action* string | What is done when the rule matches.
  exitCodes ContainerRestartRuleOnExitCodes | Which exit codes match.
type ContainerRestartRuleOnExitCodes | Exit codes that match.
  operator* string | How key and values are compared.
  values []int32 | Values to compare with.
type SecurityContext | Rights of a container.
  allowPrivilegeEscalation boolean | Whether a child may gain rights.
  appArmorProfile AppArmorProfile | AppArmor profile.
  capabilities Capabilities | Rights added and dropped.
  privileged boolean | All rights of the node.
  procMount string | How /proc is shown.
  readOnlyRootFilesystem boolean | Forbids writing to the image's files.
  runAsGroup int64 | Group id.
  runAsNonRoot boolean | Refuses to run as root.
  runAsUser int64 | User id.
  seLinuxOptions SELinuxOptions | SELinux label.
  seccompProfile SeccompProfile | System call filter.
  windowsOptions WindowsSecurityContextOptions | Windows settings.
type AppArmorProfile | An AppArmor profile.
  localhostProfile string | Profile file on the node, for type Localhost.
  type* string | Localhost, RuntimeDefault or Unconfined.
type Capabilities | Rights added and dropped.
  add []string | Rights added.
  drop []string | Rights dropped.
type SELinuxOptions | An SELinux label.
  level string | SELinux level.
  role string | SELinux role.
  type string | SELinux type.
  user string | SELinux user.
type SeccompProfile | A filter of system calls.
  localhostProfile string | Profile file on the node, for type Localhost.
  type* string | Localhost, RuntimeDefault or Unconfined.
type WindowsSecurityContextOptions | Settings for Windows.
  gmsaCredentialSpec string | The managed account's credential spec itself.
  gmsaCredentialSpecName string | Name of the managed account's credential spec.
  hostProcess boolean | Whether it runs as a process of the host.
  runAsUserName string | Windows user to run as.
type VolumeDevice | A raw block volume inside the container.
  devicePath* string | Path of the device inside the container.
  name* string | Name of the thing referred to, or of this entry.
type VolumeMount | Puts a volume into a container.
  bindMountOptions []string | Options of the mount.
  mountPath* string | Where it appears in the container.
  mountPropagation string | Whether later mounts pass through.
  name* string | The volume of the pod.
  readOnly boolean | True forbids writing.
  recursiveReadOnly string | Whether nested mounts are read-only too.
  subPath string | The part of the volume that is shown.
  subPathExpr string | As subPath, with variables.
type EphemeralContainer | A container added to a running pod, for debugging.
  args []string | Arguments of the command.
  command []string | The command, in place of the image's entry point.
  env []EnvVar merge=name | Environment variables.
  envFrom []EnvFromSource | Variables from whole ConfigMaps and Secrets.
  image string | Image to use.
  imagePullPolicy string | Always, IfNotPresent or Never.
  lifecycle Lifecycle | Actions after start and before stop.
  livenessProbe Probe | Restarts the container when it fails.
  name* string | Name of the thing referred to, or of this entry.
  ports []ContainerPort merge=containerPort | Ports that it listens on.
  readinessProbe Probe | Takes the pod out of services while it fails.
  resizePolicy []ContainerResizePolicy | What a change of resources does to the container.
  resources ResourceRequirements | What it asks for and may use at most.
  restartPolicy string | When it is started again.
  restartPolicyRules []ContainerRestartRule | Rules that decide a restart by exit code.
  securityContext SecurityContext | Rights of the container.
  startupProbe Probe | Holds the other probes back until it succeeds.
  stdin boolean | Whether standard input is kept open.
  stdinOnce boolean | Closes standard input after the first client.
  targetContainerName string | Container whose processes it may see.
  terminationMessagePath string | File that is read for the message when it ends.
  terminationMessagePolicy string | File, or FallbackToLogsOnError.
  tty boolean | Whether it gets a terminal.
  volumeDevices []VolumeDevice merge=devicePath | Raw block volumes that it sees.
  volumeMounts []VolumeMount merge=mountPath | Where volumes appear in its file system.
  workingDir string | Its working directory.
)schema";

}  // namespace tau::kube::schema_texts
