// Field tables: containers, volumes and pods. Members for what TauGrid reads; the rest is schema
// only, so that every manifest that Kubernetes takes is known here too.
#include "kube/schema.h"
#include "kube/types.h"
#include "meta/fields.h"
#include "meta/json.h"

namespace tau::meta {
using namespace tau::kube;
namespace json = boost::json;

template <>
const TypeInfo& type_of<ResourceRequirements>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ResourceRequirements", "What a container asks for and may use at most.",
      {field<&ResourceRequirements::limits>("limits", "The most it may use, by resource.",
                                            {.type = map_of<quantity_type>}),
       field<&ResourceRequirements::requests>(
           "requests", "What is set aside for it, by resource; defaults to the limits.",
           {.type = map_of<quantity_type>}),
       schema_only("claims", "Resource claims of the pod that the container uses.",
                   list_of<any_type>)});
  return type;
}

namespace {
const TypeInfo& key_selector() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.KeySelector", "One key of a ConfigMap or Secret.",
                 {field<&KeySelector::name>("name", "Name of the object."),
                  field<&KeySelector::key>("key", "The key.", {.is_required = true}),
                  field<&KeySelector::optional>("optional", "True lets the key be absent.")});
  return type;
}
const TypeInfo& field_ref() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.ObjectFieldSelector", "A field of the pod.",
                 {schema_only("apiVersion", "Version that the path is written in.", string_type),
                  field<&EnvVar::field_path>("fieldPath", "Path such as metadata.name.",
                                             {.is_required = true})});
  return type;
}
const TypeInfo& resource_ref() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ResourceFieldSelector", "A request or limit of a container.",
      {schema_only("containerName", "The container; this one by default.", string_type),
       field<&EnvVar::resource>("resource", "Path such as limits.cpu.", {.is_required = true}),
       schema_only("divisor", "Unit of the value.", quantity_type)});
  return type;
}
const TypeInfo& env_source() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.EnvVarSource", "Where a variable's value comes from.",
      {nested<EnvVar, &field_ref>("fieldRef", "A field of the pod."),
       nested<EnvVar, &resource_ref>("resourceFieldRef", "A request or limit of the container."),
       field<&EnvVar::config_map_key>("configMapKeyRef", "A key of a ConfigMap.",
                                      {.type = key_selector}),
       field<&EnvVar::secret_key>("secretKeyRef", "A key of a Secret.", {.type = key_selector}),
       schema_only("fileKeyRef", "A key of a file in a volume.", any_type)});
  return type;
}

Result<void> decode_named(std::optional<std::string>& to, bool& is_optional,
                          const json::value& from) {
  to = std::string(string_at(from, "name"));
  if (const json::value* flag = find_path(from, "optional"); flag != nullptr && flag->is_bool())
    is_optional = flag->get_bool();
  return {};
}
bool encode_named(const std::optional<std::string>& from, bool is_optional, json::value& to) {
  if (!from) return false;
  json::object object{{"name", *from}};
  if (is_optional) object["optional"] = true;
  to = std::move(object);
  return true;
}
const TypeInfo& named_source() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.EnvSource", "A whole ConfigMap or Secret.",
                 {schema_only("name", "Name of the object.", string_type),
                  schema_only("optional", "True lets it be absent.", boolean_type)});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<KeySelector>() {
  return key_selector();
}

template <>
const TypeInfo& type_of<EnvVar>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.EnvVar", "One environment variable.",
      {field<&EnvVar::name>("name", "The variable's name.", {.is_required = true}),
       field<&EnvVar::value>("value", "Its value; $(OTHER) is replaced by an earlier variable."),
       nested<EnvVar, &env_source>("valueFrom", "Where the value comes from instead.")});
  return type;
}

template <>
const TypeInfo& type_of<EnvFrom>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.EnvFromSource", "A source of many variables.",
                 {custom<EnvFrom>(
                      "configMapRef", "All keys of a ConfigMap.", named_source,
                      [](EnvFrom& to, const json::value& from) {
                        return decode_named(to.config_map, to.optional, from);
                      },
                      [](const EnvFrom& from, json::value& to) {
                        return encode_named(from.config_map, from.optional, to);
                      }),
                  custom<EnvFrom>(
                      "secretRef", "All keys of a Secret.", named_source,
                      [](EnvFrom& to, const json::value& from) {
                        return decode_named(to.secret, to.optional, from);
                      },
                      [](const EnvFrom& from, json::value& to) {
                        return encode_named(from.secret, from.optional, to);
                      }),
                  field<&EnvFrom::prefix>("prefix", "Put before each key.")});
  return type;
}

template <>
const TypeInfo& type_of<VolumeMount>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.VolumeMount", "Puts a volume into a container.",
      {field<&VolumeMount::name>("name", "The volume of the pod.", {.is_required = true}),
       field<&VolumeMount::read_only>("readOnly", "True forbids writing."),
       schema_only("recursiveReadOnly", "Whether nested mounts are read-only too.", string_type),
       field<&VolumeMount::mount_path>("mountPath", "Where it appears in the container.",
                                       {.is_required = true}),
       field<&VolumeMount::sub_path>("subPath", "The part of the volume that is shown."),
       schema_only("mountPropagation", "Whether later mounts pass through.", string_type),
       schema_only("subPathExpr", "As subPath, with variables.", string_type)});
  return type;
}

template <>
const TypeInfo& type_of<ContainerPort>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.ContainerPort", "A port that a container listens on.",
      {field<&ContainerPort::name>("name", "Name for services."),
       field<&ContainerPort::host_port>("hostPort", "Port on the node."),
       field<&ContainerPort::container_port>("containerPort", "Port in the pod.",
                                             {.is_required = true}),
       field<&ContainerPort::protocol>("protocol", "TCP, UDP or SCTP.",
                                       {.enum_values = "TCP,UDP,SCTP", .default_json = "\"TCP\""}),
       schema_only("hostIP", "Address on the node.", string_type)});
  return type;
}

template <>
const TypeInfo& type_of<Container>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.Container", "One program of a pod.",
      {field<&Container::name>("name", "Unique within the pod. Cannot be changed.",
                               {.is_required = true}),
       field<&Container::image>("image", "The container image."),
       field<&Container::command>(
           "command", "The program and its first arguments; the image's own by default."),
       field<&Container::args>("args", "Further arguments."),
       field<&Container::working_dir>("workingDir", "The directory that it starts in."),
       field<&Container::ports>("ports", "Ports that it listens on.",
                                {.merge_key = "containerPort"}),
       field<&Container::env_from>("envFrom", "Sources of many environment variables."),
       field<&Container::env>("env", "Environment variables.", {.merge_key = "name"}),
       field<&Container::resources>("resources", "What it asks for and may use at most.",
                                    {.is_always = true}),
       schema_only("resizePolicy", "What a change of resources does to the container.",
                   list_of<any_type>),
       field<&Container::restart_policy>(
           "restartPolicy",
           "For init containers: Always makes it run beside the pod's containers."),
       schema_only("restartPolicyRules", "Rules by exit code.", list_of<any_type>),
       field<&Container::volume_mounts>("volumeMounts", "Volumes that it sees.",
                                        {.merge_key = "mountPath"}),
       schema_only("volumeDevices", "Raw block volumes that it sees.", list_of<any_type>,
                   {.merge_key = "devicePath"}),
       schema_only("livenessProbe", "Restarts the container when it fails.", any_type),
       schema_only("readinessProbe", "Takes the pod out of services while it fails.", any_type),
       schema_only("startupProbe", "Holds the other probes back until it succeeds.", any_type),
       schema_only("lifecycle", "Actions after start and before stop.", any_type),
       field<&Container::termination_message_path>("terminationMessagePath",
                                                   "File whose text becomes the final message."),
       schema_only("terminationMessagePolicy", "File, or FallbackToLogsOnError.", string_type),
       field<&Container::image_pull_policy>("imagePullPolicy", "Always, IfNotPresent or Never.",
                                            {.enum_values = "Always,IfNotPresent,Never"}),
       schema_only("securityContext", "Rights of the container.", any_type),
       schema_only("stdin", "Whether standard input is kept open.", boolean_type),
       schema_only("stdinOnce", "Closes it after the first client.", boolean_type),
       schema_only("tty", "Whether it gets a terminal.", boolean_type)});
  return type;
}

template <>
const TypeInfo& type_of<KeyToPath>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.KeyToPath", "Gives a key its file name.",
                 {field<&KeyToPath::key>("key", "The key.", {.is_required = true}),
                  field<&KeyToPath::path>("path", "Path in the volume.", {.is_required = true}),
                  field<&KeyToPath::mode>("mode", "Permission bits.")});
  return type;
}

namespace {
Result<void> decode_items(PodVolume& to, const json::value& from) {
  if (const json::value* flag = find_path(from, "optional"); flag != nullptr && flag->is_bool())
    to.optional = flag->get_bool();
  if (const json::value* items = find_path(from, "items"))
    return Codec<std::vector<KeyToPath>>::decode(to.items, *items);
  return {};
}
void encode_items(const PodVolume& from, json::object& to) {
  if (from.optional) to["optional"] = true;
  json::value items;
  if (Codec<std::vector<KeyToPath>>::encode(from.items, items)) to["items"] = std::move(items);
}
Result<void> decode_config_map(PodVolume& to, const json::value& from) {
  to.config_map = std::string(string_at(from, "name"));
  return decode_items(to, from);
}
bool encode_config_map(const PodVolume& from, json::value& to) {
  if (!from.config_map) return false;
  json::object object{{"name", *from.config_map}};
  encode_items(from, object);
  to = std::move(object);
  return true;
}
Result<void> decode_secret(PodVolume& to, const json::value& from) {
  to.secret = std::string(string_at(from, "secretName"));
  return decode_items(to, from);
}
bool encode_secret(const PodVolume& from, json::value& to) {
  if (!from.secret) return false;
  json::object object{{"secretName", *from.secret}};
  encode_items(from, object);
  to = std::move(object);
  return true;
}
Result<void> decode_empty_dir(PodVolume& to, const json::value& from) {
  to.is_empty_dir = true;
  to.empty_dir_medium = std::string(string_at(from, "medium"));
  return {};
}
bool encode_empty_dir(const PodVolume& from, json::value& to) {
  if (!from.is_empty_dir) return false;
  json::object object;
  if (!from.empty_dir_medium.empty()) object["medium"] = from.empty_dir_medium;
  to = std::move(object);
  return true;
}
Result<void> decode_host_path(PodVolume& to, const json::value& from) {
  to.host_path = std::string(string_at(from, "path"));
  to.host_path_type = std::string(string_at(from, "type"));
  return {};
}
bool encode_host_path(const PodVolume& from, json::value& to) {
  if (!from.host_path) return false;
  json::object object{{"path", *from.host_path}};
  if (from.host_path_type && !from.host_path_type->empty()) object["type"] = *from.host_path_type;
  to = std::move(object);
  return true;
}
template <int index>
Field other_volume(std::string_view name, std::string_view description) {
  static std::string_view key;
  key = name;
  return custom<PodVolume>(
      name, description, any_type,
      [](PodVolume& to, const json::value&) -> Result<void> {
        to.is_other = true;
        to.other = key;
        return {};
      },
      [](const PodVolume& from, json::value& to) {
        if (from.other != key) return false;
        to = json::object();
        return true;
      });
}
}  // namespace

template <>
const TypeInfo& type_of<PodVolume>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.Volume", "Files that containers of a pod share.",
                 {field<&PodVolume::name>("name", "Unique within the pod.", {.is_required = true}),
                  custom<PodVolume>("emptyDir", "An empty directory that lives as long as the pod.",
                                    any_type, decode_empty_dir, encode_empty_dir),
                  custom<PodVolume>("hostPath", "A file or directory of the node.", any_type,
                                    decode_host_path, encode_host_path),
                  custom<PodVolume>("configMap", "The keys of a ConfigMap as files.", any_type,
                                    decode_config_map, encode_config_map),
                  custom<PodVolume>("secret", "The keys of a Secret as files.", any_type,
                                    decode_secret, encode_secret),
                  other_volume<0>("persistentVolumeClaim", "A claim for lasting storage."),
                  other_volume<1>("projected", "Several sources in one directory."),
                  other_volume<2>("downwardAPI", "Facts about the pod as files."),
                  other_volume<3>("nfs", "A network file system."),
                  other_volume<4>("csi", "A volume of a storage driver."),
                  other_volume<5>("ephemeral", "A claim that lives as long as the pod."),
                  other_volume<6>("image", "The files of an image."),
                  other_volume<7>("iscsi", "An iSCSI disk."),
                  other_volume<8>("fc", "A Fibre Channel disk."),
                  other_volume<9>("cephfs", "A Ceph file system."),
                  other_volume<10>("rbd", "A Ceph block device."),
                  other_volume<11>("azureDisk", "An Azure disk."),
                  other_volume<12>("azureFile", "An Azure file share."),
                  other_volume<13>("awsElasticBlockStore", "An AWS disk."),
                  other_volume<14>("gcePersistentDisk", "A Google disk."),
                  other_volume<15>("gitRepo", "A git checkout."),
                  other_volume<16>("glusterfs", "A Gluster file system."),
                  other_volume<17>("cinder", "An OpenStack disk."),
                  other_volume<18>("flexVolume", "A volume of an exec plugin."),
                  other_volume<19>("flocker", "A Flocker volume."),
                  other_volume<20>("quobyte", "A Quobyte volume."),
                  other_volume<21>("vsphereVolume", "A vSphere disk."),
                  other_volume<22>("photonPersistentDisk", "A Photon disk."),
                  other_volume<23>("portworxVolume", "A Portworx volume."),
                  other_volume<24>("scaleIO", "A ScaleIO volume."),
                  other_volume<25>("storageos", "A StorageOS volume.")});
  return type;
}

template <>
const TypeInfo& type_of<Toleration>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.Toleration", "Lets a pod onto nodes with a matching taint.",
                 {field<&Toleration::key>("key", "The taint's key; empty with Exists means all."),
                  field<&Toleration::operator_>("operator", "Equal or Exists."),
                  field<&Toleration::value>("value", "The taint's value for Equal."),
                  field<&Toleration::effect>("effect", "The taint's effect; empty means all."),
                  field<&Toleration::toleration_seconds>("tolerationSeconds",
                                                         "How long a NoExecute taint is borne.")});
  return type;
}

template <>
const TypeInfo& type_of<NodeSelectorTerm>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeSelectorTerm", "Tests of one node; all must hold.",
      {field<&NodeSelectorTerm::match_expressions>("matchExpressions", "Tests of its labels."),
       field<&NodeSelectorTerm::match_fields>("matchFields", "Tests of its fields.")});
  return type;
}

template <>
const TypeInfo& type_of<PreferredTerm>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.PreferredSchedulingTerm", "A wish about the node.",
                 {field<&PreferredTerm::weight>("weight", "1 to 100.",
                                                {.is_required = true, .is_always = true}),
                  field<&PreferredTerm::preference>("preference", "What is wished for.",
                                                    {.is_required = true, .is_always = true})});
  return type;
}

namespace {
const TypeInfo& node_selector() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.NodeSelector", "Tests of a node; one term must hold.",
                 {field<&PodSpec::required_node_affinity>("nodeSelectorTerms", "The terms.",
                                                          {.is_required = true})});
  return type;
}
const TypeInfo& node_affinity() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.NodeAffinity", "Which nodes a pod wants.",
      {nested<PodSpec, &node_selector>("requiredDuringSchedulingIgnoredDuringExecution",
                                       "What a node must have."),
       field<&PodSpec::preferred_node_affinity>("preferredDuringSchedulingIgnoredDuringExecution",
                                                "What a node should have.")});
  return type;
}
const TypeInfo& affinity() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.Affinity", "Which nodes and neighbours a pod wants.",
                 {nested<PodSpec, &node_affinity>("nodeAffinity", "Which nodes."),
                  schema_only("podAffinity", "Which neighbours.", any_type),
                  schema_only("podAntiAffinity", "Which neighbours not.", any_type)});
  return type;
}
}  // namespace

template <>
const TypeInfo& type_of<SchedulingGate>() {
  static const TypeInfo type = full_table(
      "io.k8s.api.core.v1.PodSchedulingGate", "Holds a pod back from scheduling.",
      {field<&SchedulingGate::name>("name", "Unique within the pod.", {.is_required = true})});
  return type;
}

template <>
const TypeInfo& type_of<PodSpec>() {
  static const TypeInfo type = [] {
    std::vector<Field> fields{
        field<&PodSpec::volumes>("volumes", "Files that its containers share.",
                                 {.merge_key = "name", .retains_keys = true}),
        field<&PodSpec::init_containers>(
            "initContainers",
            "Programs that end, one after the other, before the containers start.",
            {.merge_key = "name"}),
        field<&PodSpec::containers>("containers",
                                    "The programs; at least one. Cannot be added or removed later.",
                                    {.is_required = true, .merge_key = "name"}),
        field<&PodSpec::restart_policy>("restartPolicy", "Always, OnFailure or Never.",
                                        {.enum_values = "Always,OnFailure,Never"}),
        field<&PodSpec::termination_grace_period_seconds>(
            "terminationGracePeriodSeconds", "Seconds between TERM and KILL; 30 by default."),
        field<&PodSpec::active_deadline_seconds>("activeDeadlineSeconds",
                                                 "Seconds after which it is ended as failed."),
        field<&PodSpec::node_selector>("nodeSelector", "Labels that its node must have."),
        field<&PodSpec::service_account_name>("serviceAccountName", "Its identity."),
        field<&PodSpec::node_name>("nodeName", "The node that it was bound to."),
        field<&PodSpec::host_network>("hostNetwork", "Whether it shares the node's network."),
        field<&PodSpec::hostname>("hostname", "Its host name."),
        field<&PodSpec::subdomain>("subdomain", "Its sub-domain."),
        nested<PodSpec, &affinity>("affinity", "Which nodes and neighbours it wants."),
        field<&PodSpec::scheduler_name>("schedulerName", "The scheduler that places it."),
        field<&PodSpec::tolerations>("tolerations", "Taints that it bears."),
        field<&PodSpec::priority_class_name>("priorityClassName", "Its named priority."),
        field<&PodSpec::priority>("priority", "Its priority; set from the class."),
        field<&PodSpec::overhead>("overhead", "Resources of the sandbox itself.",
                                  {.type = map_of<quantity_type>}),
        field<&PodSpec::scheduling_gates>("schedulingGates",
                                          "Names that hold it back until all are removed.",
                                          {.merge_key = "name"})};
    return full_table("io.k8s.api.core.v1.PodSpec", "What a pod is to run, and where it may.",
                      std::move(fields));
  }();
  return type;
}

template <>
const TypeInfo& type_of<PodTemplate>() {
  static const TypeInfo type =
      full_table("io.k8s.api.core.v1.PodTemplateSpec", "The pods to be made.",
                 {field<&PodTemplate::metadata>("metadata", "Labels and annotations of the pods.",
                                                {.is_always = true}),
                  field<&PodTemplate::spec>("spec", "What they are to run.", {.is_always = true})});
  return type;
}

template <>
const TypeInfo& type_of<Pod>() {
  static const TypeInfo type = object_table(
      "io.k8s.api.core.v1.Pod", "Containers that run together on one node.",
      {field<&Pod::metadata>("metadata", "Name, labels and the like."),
       field<&Pod::spec>("spec", "What it is to run, and where it may.", {.is_always = true}),
       field<&Pod::status>("status", "How it is; set by the node and the scheduler.",
                           {.is_always = true})});
  return type;
}

}  // namespace tau::meta
