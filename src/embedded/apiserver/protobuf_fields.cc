// The protobuf form of the kinds that clients send so: message, then field=number and type of each.
// Made from the public API's field tags. Types: s string, b bytes, i integer, t boolean, d double,
// a message's name; @T Time,
// @M MicroTime, @Q Quantity, @I IntOrString, @F FieldsV1, @R RawExtension. Before the type: ? keeps
// a zero (a pointer in the API's own types), * repeated, % map of string. "~" is a field whose
// members stand in the parent.
#include "embedded/apiserver/protobuf.h"

namespace tau::apiserver {

const std::string_view protobuf_fields =
    R"(AWSElasticBlockStoreVolumeSource: volumeID=1s fsType=2s partition=3i readOnly=4t
Affinity: nodeAffinity=1?NodeAffinity podAffinity=2?PodAffinity podAntiAffinity=3?PodAntiAffinity
AppArmorProfile: type=1s localhostProfile=2?s
AttachedVolume: name=1s devicePath=2s
AzureDiskVolumeSource: diskName=1s diskURI=2s cachingMode=3?s fsType=4?s readOnly=5?t kind=6?s
AzureFileVolumeSource: secretName=1s shareName=2s readOnly=3t
Binding: metadata=1ObjectMeta target=2ObjectReference
CSIVolumeSource: driver=1s readOnly=2?t fsType=3?s volumeAttributes=4%s
  nodePublishSecretRef=5?LocalObjectReference
Capabilities: add=1*s drop=2*s
CephFSVolumeSource: monitors=1*s path=2s user=3s secretFile=4s secretRef=5?LocalObjectReference
  readOnly=6t
CinderVolumeSource: volumeID=1s fsType=2s readOnly=3t secretRef=4?LocalObjectReference
ClusterTrustBundleProjection: name=1?s signerName=2?s labelSelector=3?LabelSelector optional=5?t
  path=4s user=6?i
ConfigMap: metadata=1ObjectMeta immutable=4?t data=2%s binaryData=3%b
ConfigMapEnvSource: ~=1LocalObjectReference optional=2?t
ConfigMapKeySelector: ~=1LocalObjectReference key=2s optional=3?t
ConfigMapNodeConfigSource: namespace=1s name=2s uid=3s resourceVersion=4s kubeletConfigKey=5s
ConfigMapProjection: ~=1LocalObjectReference items=2*KeyToPath optional=4?t
ConfigMapVolumeSource: ~=1LocalObjectReference items=2*KeyToPath defaultMode=3?i optional=4?t
  defaultUser=5?i
Container: name=1s image=2s command=3*s args=4*s workingDir=5s ports=6*ContainerPort
  envFrom=19*EnvFromSource env=7*EnvVar resources=8ResourceRequirements
  resizePolicy=23*ContainerResizePolicy restartPolicy=24?s
  restartPolicyRules=25*ContainerRestartRule volumeMounts=9*VolumeMount
  volumeDevices=21*VolumeDevice livenessProbe=10?Probe readinessProbe=11?Probe
  startupProbe=22?Probe lifecycle=12?Lifecycle terminationMessagePath=13s
  terminationMessagePolicy=20s imagePullPolicy=14s securityContext=15?SecurityContext stdin=16t
  stdinOnce=17t tty=18t
ContainerExtendedResourceRequest: containerName=1s resourceName=2s requestName=3s
ContainerImage: names=1*s sizeBytes=2i
ContainerPort: name=1s hostPort=2i containerPort=3i protocol=4s hostIP=5s
ContainerResizePolicy: resourceName=1s restartPolicy=2s
ContainerRestartRule: action=1s exitCodes=2?ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator=1s values=2*i
ContainerState: waiting=1?ContainerStateWaiting running=2?ContainerStateRunning
  terminated=3?ContainerStateTerminated
ContainerStateRunning: startedAt=1@T
ContainerStateTerminated: exitCode=1i signal=2i reason=3s message=4s startedAt=5@T finishedAt=6@T
  containerID=7s
ContainerStateWaiting: reason=1s message=2s
ContainerStatus: name=1s state=2ContainerState lastState=3ContainerState ready=4t restartCount=5i
  image=6s imageID=7s containerID=8s started=9?t allocatedResources=10%@Q
  resources=11?ResourceRequirements volumeMounts=12*VolumeMountStatus user=13?ContainerUser
  allocatedResourcesStatus=14*ResourceStatus stopSignal=15?s
ContainerUser: linux=1?LinuxContainerUser
DaemonEndpoint: Port=1i
DeleteOptions: gracePeriodSeconds=1?i preconditions=2?Preconditions orphanDependents=3?t
  propagationPolicy=4?s dryRun=5*s ignoreStoreReadErrorWithClusterBreakingPotential=6?t
DownwardAPIProjection: items=1*DownwardAPIVolumeFile
DownwardAPIVolumeFile: path=1s fieldRef=2?ObjectFieldSelector
  resourceFieldRef=3?ResourceFieldSelector mode=4?i user=5?i
DownwardAPIVolumeSource: items=1*DownwardAPIVolumeFile defaultMode=2?i defaultUser=3?i
EmptyDirVolumeSource: medium=1s sizeLimit=2?@Q mode=3?i
EnvFromSource: prefix=1s configMapRef=2?ConfigMapEnvSource secretRef=3?SecretEnvSource
EnvVar: name=1s value=2s valueFrom=3?EnvVarSource
EnvVarSource: fieldRef=1?ObjectFieldSelector resourceFieldRef=2?ResourceFieldSelector
  configMapKeyRef=3?ConfigMapKeySelector secretKeyRef=4?SecretKeySelector
  fileKeyRef=5?FileKeySelector
EphemeralContainer: ~=1EphemeralContainerCommon targetContainerName=2s
EphemeralContainerCommon: name=1s image=2s command=3*s args=4*s workingDir=5s
  ports=6*ContainerPort envFrom=19*EnvFromSource env=7*EnvVar resources=8ResourceRequirements
  resizePolicy=23*ContainerResizePolicy restartPolicy=24?s
  restartPolicyRules=25*ContainerRestartRule volumeMounts=9*VolumeMount
  volumeDevices=21*VolumeDevice livenessProbe=10?Probe readinessProbe=11?Probe
  startupProbe=22?Probe lifecycle=12?Lifecycle terminationMessagePath=13s
  terminationMessagePolicy=20s imagePullPolicy=14s securityContext=15?SecurityContext stdin=16t
  stdinOnce=17t tty=18t
EphemeralVolumeSource: volumeClaimTemplate=1?PersistentVolumeClaimTemplate
Event: metadata=1ObjectMeta involvedObject=2ObjectReference reason=3s message=4s
  source=5EventSource firstTimestamp=6@T lastTimestamp=7@T count=8i type=9s eventTime=10@M
  series=11?EventSeries action=12s related=13?ObjectReference reportingComponent=14s
  reportingInstance=15s
EventSeries: count=1i lastObservedTime=2@M
EventSource: component=1s host=2s
Eviction: metadata=1ObjectMeta deleteOptions=2?DeleteOptions
EvictionResponder: name=1s priority=2?i
ExecAction: command=1*s
FCVolumeSource: targetWWNs=1*s lun=2?i fsType=3s readOnly=4t wwids=5*s
FieldSelectorAttributes: rawSelector=1s requirements=2*FieldSelectorRequirement
FieldSelectorRequirement: key=1s operator=2s values=3*s
FileKeySelector: volumeName=1s path=2s key=3s optional=4?t
FlexVolumeSource: driver=1s fsType=2s secretRef=3?LocalObjectReference readOnly=4t options=5%s
FlockerVolumeSource: datasetName=1s datasetUUID=2s
GCEPersistentDiskVolumeSource: pdName=1s fsType=2s partition=3i readOnly=4t
GRPCAction: port=1i service=2?s mode=3?s
GitRepoVolumeSource: repository=1s revision=2s directory=3s
GlusterfsVolumeSource: endpoints=1s path=2s readOnly=3t
HTTPGetAction: path=1s port=2@I host=3s scheme=4s httpHeaders=5*HTTPHeader protocol=6?s
HTTPHeader: name=1s value=2s
HostAlias: ip=1s hostnames=2*s
HostIP: ip=1s
HostPathVolumeSource: path=1s type=2?s
ISCSIVolumeSource: targetPortal=1s iqn=2s lun=3i iscsiInterface=4s fsType=5s readOnly=6t
  portals=7*s chapAuthDiscovery=8t chapAuthSession=11t secretRef=10?LocalObjectReference
  initiatorName=12?s
ImageVolumeSource: reference=1s pullPolicy=2s
ImageVolumeStatus: imageRef=1s
Job: metadata=1ObjectMeta spec=2JobSpec status=3JobStatus
JobCondition: type=1s status=2s lastProbeTime=3@T lastTransitionTime=4@T reason=5s message=6s
JobSchedulingConfiguration:
JobSpec: parallelism=1?i completions=2?i activeDeadlineSeconds=3?i
  podFailurePolicy=11?PodFailurePolicy successPolicy=16?SuccessPolicy backoffLimit=7?i
  backoffLimitPerIndex=12?i maxFailedIndexes=13?i selector=4?LabelSelector manualSelector=5?t
  template=6PodTemplateSpec ttlSecondsAfterFinished=8?i completionMode=9?s suspend=10?t
  podReplacementPolicy=14?s managedBy=15?s scheduling=17?JobSchedulingConfiguration
JobStatus: conditions=1*JobCondition startTime=2?@T completionTime=3?@T active=4i succeeded=5i
  failed=6i terminating=11?i completedIndexes=7s failedIndexes=10?s
  uncountedTerminatedPods=8?UncountedTerminatedPods ready=9?i
KeyToPath: key=1s path=2s mode=3?i user=4?i
LabelSelector: matchLabels=1%s matchExpressions=2*LabelSelectorRequirement
LabelSelectorAttributes: rawSelector=1s requirements=2*LabelSelectorRequirement
LabelSelectorRequirement: key=1s operator=2s values=3*s
Lease: metadata=1ObjectMeta spec=2LeaseSpec
LeaseSpec: holderIdentity=1?s leaseDurationSeconds=2?i acquireTime=3?@M renewTime=4?@M
  leaseTransitions=5?i strategy=6?s preferredHolder=7?s
Lifecycle: postStart=1?LifecycleHandler preStop=2?LifecycleHandler stopSignal=3?s
LifecycleHandler: exec=1?ExecAction httpGet=2?HTTPGetAction tcpSocket=3?TCPSocketAction
  sleep=4?SleepAction
LinuxContainerUser: uid=1i gid=2i supplementalGroups=3*i
LocalObjectReference: name=1s
ManagedFieldsEntry: manager=1s operation=2s apiVersion=3s time=4?@T fieldsType=6s fieldsV1=7?@F
  subresource=8s
NFSVolumeSource: server=1s path=2s readOnly=3t
Namespace: metadata=1ObjectMeta spec=2NamespaceSpec status=3NamespaceStatus
NamespaceCondition: type=1s status=2s lastTransitionTime=4@T reason=5s message=6s
NamespaceSpec: finalizers=1*s
NamespaceStatus: phase=1s conditions=2*NamespaceCondition
Node: metadata=1ObjectMeta spec=2NodeSpec status=3NodeStatus
NodeAddress: type=1s address=2s
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=1?NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution=2*PreferredSchedulingTerm
NodeAllocatableMappedResources: name=1s quantity=2?@Q
NodeAllocatableOverheadResources: name=1s perPod=2?@Q perContainer=3?@Q
NodeAllocatableResourceClaimStatus: resourceClaimName=1s containers=2*s
  mapping=4*NodeAllocatableMappedResources overhead=5*NodeAllocatableOverheadResources
NodeCondition: type=1s status=2s lastHeartbeatTime=3@T lastTransitionTime=4@T reason=5s message=6s
NodeConfigSource: configMap=2?ConfigMapNodeConfigSource
NodeConfigStatus: assigned=1?NodeConfigSource active=2?NodeConfigSource
  lastKnownGood=3?NodeConfigSource error=4s
NodeDaemonEndpoints: kubeletEndpoint=1DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy=1?t
NodePodPreemptionPolicy: disableResizePreemption=1*s
NodeRuntimeHandler: name=1s features=2?NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts=1?t userNamespaces=2?t
NodeSelector: nodeSelectorTerms=1*NodeSelectorTerm
NodeSelectorRequirement: key=1s operator=2s values=3*s
NodeSelectorTerm: matchExpressions=1*NodeSelectorRequirement matchFields=2*NodeSelectorRequirement
NodeSpec: podCIDR=1s podCIDRs=7*s providerID=3s unschedulable=4t taints=5*Taint
  configSource=6?NodeConfigSource externalID=2s podPreemptionPolicy=8?NodePodPreemptionPolicy
NodeStatus: capacity=1%@Q allocatable=2%@Q phase=3s conditions=4*NodeCondition
  addresses=5*NodeAddress daemonEndpoints=6NodeDaemonEndpoints nodeInfo=7NodeSystemInfo
  images=8*ContainerImage volumesInUse=9*s volumesAttached=10*AttachedVolume
  config=11?NodeConfigStatus runtimeHandlers=12*NodeRuntimeHandler features=13?NodeFeatures
  declaredFeatures=14*s
NodeSwapStatus: capacity=1?i
NodeSystemInfo: machineID=1s systemUUID=2s bootID=3s kernelVersion=4s osImage=5s
  containerRuntimeVersion=6s kubeletVersion=7s kubeProxyVersion=8s operatingSystem=9s
  architecture=10s swap=11?NodeSwapStatus runningInUserNamespace=12?t
NonResourceAttributes: path=1s verb=2s
ObjectFieldSelector: apiVersion=1s fieldPath=2s
ObjectMeta: name=1s generateName=2s namespace=3s selfLink=4s uid=5s resourceVersion=6s
  generation=7i creationTimestamp=8@T deletionTimestamp=9?@T deletionGracePeriodSeconds=10?i
  labels=11%s annotations=12%s ownerReferences=13*OwnerReference finalizers=14*s
  managedFields=17*ManagedFieldsEntry
ObjectReference: kind=1s namespace=2s name=3s uid=4s apiVersion=5s resourceVersion=6s fieldPath=7s
OwnerReference: apiVersion=5s kind=1s name=3s uid=4s controller=6?t blockOwnerDeletion=7?t
PersistentVolumeClaimSpec: accessModes=1*s selector=4?LabelSelector
  resources=2VolumeResourceRequirements volumeName=3s storageClassName=5?s volumeMode=6?s
  dataSource=7?TypedLocalObjectReference dataSourceRef=8?TypedObjectReference
  volumeAttributesClassName=9?s
PersistentVolumeClaimTemplate: metadata=1ObjectMeta spec=2PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: claimName=1s readOnly=2t
PhotonPersistentDiskVolumeSource: pdID=1s fsType=2s
Pod: metadata=1ObjectMeta spec=2PodSpec status=3PodStatus
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=1*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution=2*WeightedPodAffinityTerm
PodAffinityTerm: labelSelector=1?LabelSelector namespaces=2*s topologyKey=3s
  namespaceSelector=4?LabelSelector matchLabelKeys=5*s mismatchLabelKeys=6*s
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution=1*PodAffinityTerm
  preferredDuringSchedulingIgnoredDuringExecution=2*WeightedPodAffinityTerm
PodCertificateProjection: signerName=1s keyType=2s maxExpirationSeconds=3?i
  credentialBundlePath=4s keyPath=5s certificateChainPath=6s userAnnotations=7%s user=8?i
PodCondition: type=1s observedGeneration=7i status=2s lastProbeTime=3@T lastTransitionTime=4@T
  reason=5s message=6s
PodDNSConfig: nameservers=1*s searches=2*s options=3*PodDNSConfigOption
PodDNSConfigOption: name=1s value=2?s
PodExtendedResourceClaimStatus: requestMappings=1*ContainerExtendedResourceRequest
  resourceClaimName=2s
PodFailurePolicy: rules=1*PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: containerName=1?s operator=2s values=3*i
PodFailurePolicyOnPodConditionsPattern: type=1s status=2s
PodFailurePolicyRule: action=1s onExitCodes=2?PodFailurePolicyOnExitCodesRequirement
  onPodConditions=3*PodFailurePolicyOnPodConditionsPattern
PodIP: ip=1s
PodOS: name=1s
PodReadinessGate: conditionType=1s
PodResourceClaim: name=1s resourceClaimName=3?s resourceClaimTemplateName=4?s
PodResourceClaimStatus: name=1s resourceClaimName=2?s
PodSchedulingGate: name=1s
PodSchedulingGroup: podGroupName=1?s
PodSecurityContext: seLinuxOptions=1?SELinuxOptions windowsOptions=8?WindowsSecurityContextOptions
  runAsUser=2?i runAsGroup=6?i runAsNonRoot=3?t supplementalGroups=4*i
  supplementalGroupsPolicy=12?s fsGroup=5?i sysctls=7*Sysctl fsGroupChangePolicy=9?s
  seccompProfile=10?SeccompProfile appArmorProfile=11?AppArmorProfile seLinuxChangePolicy=13?s
PodSpec: volumes=1*Volume initContainers=20*Container containers=2*Container
  ephemeralContainers=34*EphemeralContainer restartPolicy=3s terminationGracePeriodSeconds=4?i
  activeDeadlineSeconds=5?i dnsPolicy=6s nodeSelector=7%s serviceAccountName=8s serviceAccount=9s
  automountServiceAccountToken=21?t nodeName=10s hostNetwork=11t hostPID=12t hostIPC=13t
  shareProcessNamespace=27?t securityContext=14?PodSecurityContext
  imagePullSecrets=15*LocalObjectReference hostname=16s subdomain=17s affinity=18?Affinity
  schedulerName=19s tolerations=22*Toleration hostAliases=23*HostAlias priorityClassName=24s
  priority=25?i dnsConfig=26?PodDNSConfig readinessGates=28*PodReadinessGate runtimeClassName=29?s
  enableServiceLinks=30?t preemptionPolicy=31?s overhead=32%@Q
  topologySpreadConstraints=33*TopologySpreadConstraint setHostnameAsFQDN=35?t os=36?PodOS
  hostUsers=37?t schedulingGates=38*PodSchedulingGate resourceClaims=39*PodResourceClaim
  resources=40?ResourceRequirements hostnameOverride=41?s schedulingGroup=43?PodSchedulingGroup
  evictionResponders=44*EvictionResponder
PodStatus: observedGeneration=17i phase=1s conditions=2*PodCondition message=3s reason=4s
  nominatedNodeName=11s hostIP=5s hostIPs=16*HostIP podIP=6s podIPs=12*PodIP startTime=7?@T
  initContainerStatuses=10*ContainerStatus containerStatuses=8*ContainerStatus qosClass=9s
  ephemeralContainerStatuses=13*ContainerStatus resize=14s
  resourceClaimStatuses=15*PodResourceClaimStatus
  extendedResourceClaimStatus=18?PodExtendedResourceClaimStatus allocatedResources=19%@Q
  resources=20?ResourceRequirements
  nodeAllocatableResourceClaimStatuses=21*NodeAllocatableResourceClaimStatus
  volumeHealth=22*PodVolumeHealth
PodTemplateSpec: metadata=1ObjectMeta spec=2PodSpec
PodVolumeHealth: name=1s healthConditions=2*VolumeHealthCondition lastTransitionTime=3@T
PortworxVolumeSource: volumeID=1s fsType=2s readOnly=3t
Preconditions: uid=1?s resourceVersion=2?s
PreferredSchedulingTerm: weight=1i preference=2NodeSelectorTerm
PriorityClass: metadata=1ObjectMeta value=2i globalDefault=3t description=4s preemptionPolicy=5?s
Probe: ~=1ProbeHandler initialDelaySeconds=2i timeoutSeconds=3i periodSeconds=4i
  successThreshold=5i failureThreshold=6i terminationGracePeriodSeconds=7?i
ProbeHandler: exec=1?ExecAction httpGet=2?HTTPGetAction tcpSocket=3?TCPSocketAction
  grpc=4?GRPCAction
ProjectedVolumeSource: sources=1*VolumeProjection defaultMode=2?i defaultUser=3?i
QuobyteVolumeSource: registry=1s volume=2s readOnly=3t user=4s group=5s tenant=6s
RBDVolumeSource: monitors=1*s image=2s fsType=3s pool=4s user=5s keyring=6s
  secretRef=7?LocalObjectReference readOnly=8t
ResourceAttributes: namespace=1s verb=2s group=3s version=4s resource=5s subresource=6s name=7s
  fieldSelector=8?FieldSelectorAttributes labelSelector=9?LabelSelectorAttributes
ResourceClaim: name=1s request=2s
ResourceFieldSelector: containerName=1s resource=2s divisor=3@Q
ResourceHealth: resourceID=1s health=2s message=6?s
ResourceRequirements: limits=1%@Q requests=2%@Q claims=3*ResourceClaim
ResourceStatus: name=1s resources=2*ResourceHealth
SELinuxOptions: user=1s role=2s type=3s level=4s
ScaleIOVolumeSource: gateway=1s system=2s secretRef=3?LocalObjectReference sslEnabled=4t
  protectionDomain=5s storagePool=6s storageMode=7s volumeName=8s fsType=9s readOnly=10t
SeccompProfile: type=1s localhostProfile=2?s
Secret: metadata=1ObjectMeta immutable=5?t data=2%b stringData=4%s type=3s
SecretEnvSource: ~=1LocalObjectReference optional=2?t
SecretKeySelector: ~=1LocalObjectReference key=2s optional=3?t
SecretProjection: ~=1LocalObjectReference items=2*KeyToPath optional=4?t
SecretVolumeSource: secretName=1s items=2*KeyToPath defaultMode=3?i optional=4?t defaultUser=5?i
SecurityContext: capabilities=1?Capabilities privileged=2?t seLinuxOptions=3?SELinuxOptions
  windowsOptions=10?WindowsSecurityContextOptions runAsUser=4?i runAsGroup=8?i runAsNonRoot=5?t
  readOnlyRootFilesystem=6?t allowPrivilegeEscalation=7?t procMount=9?s
  seccompProfile=11?SeccompProfile appArmorProfile=12?AppArmorProfile
SelfSubjectAccessReview: metadata=1ObjectMeta spec=2SelfSubjectAccessReviewSpec
  status=3SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: resourceAttributes=1?ResourceAttributes
  nonResourceAttributes=2?NonResourceAttributes
SelfSubjectReview: metadata=1ObjectMeta status=2SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo=1UserInfo
ServiceAccount: metadata=1ObjectMeta secrets=2*ObjectReference
  imagePullSecrets=3*LocalObjectReference automountServiceAccountToken=4?t
ServiceAccountTokenProjection: audience=1s expirationSeconds=2?i path=3s user=4?i
SleepAction: seconds=1i
StorageOSVolumeSource: volumeName=1s volumeNamespace=2s fsType=3s readOnly=4t
  secretRef=5?LocalObjectReference
SubjectAccessReviewStatus: allowed=1t denied=4t reason=2s evaluationError=3s
SuccessPolicy: rules=1*SuccessPolicyRule
SuccessPolicyRule: succeededIndexes=1?s succeededCount=2?i
Sysctl: name=1s value=2s
TCPSocketAction: port=1@I host=2s
Taint: key=1s value=2s effect=3s timeAdded=4?@T
Toleration: key=1s operator=2s value=3s effect=4s tolerationSeconds=5?i
TopologySpreadConstraint: maxSkew=1i topologyKey=2s whenUnsatisfiable=3s
  labelSelector=4?LabelSelector minDomains=5?i nodeAffinityPolicy=6?s nodeTaintsPolicy=7?s
  matchLabelKeys=8*s
TypedLocalObjectReference: apiGroup=1?s kind=2s name=3s
TypedObjectReference: apiGroup=1?s kind=2s name=3s namespace=4?s
UncountedTerminatedPods: succeeded=1*s failed=2*s
UserInfo: username=1s uid=2s groups=3*s extra=4%s
Volume: name=1s ~=2VolumeSource
VolumeDevice: name=1s devicePath=2s
VolumeHealthCondition: status=1s reason=2s message=3s
VolumeMount: name=1s readOnly=2t recursiveReadOnly=7?s mountPath=3s subPath=4s
  mountPropagation=5?s subPathExpr=6s bindMountOptions=8*s
VolumeMountStatus: name=1s mountPath=2s readOnly=3t recursiveReadOnly=4?s
  volumeStatus=5?VolumeStatus
VolumeProjection: secret=1?SecretProjection downwardAPI=2?DownwardAPIProjection
  configMap=3?ConfigMapProjection serviceAccountToken=4?ServiceAccountTokenProjection
  clusterTrustBundle=5?ClusterTrustBundleProjection podCertificate=6?PodCertificateProjection
VolumeResourceRequirements: limits=1%@Q requests=2%@Q
VolumeSource: hostPath=1?HostPathVolumeSource emptyDir=2?EmptyDirVolumeSource
  gcePersistentDisk=3?GCEPersistentDiskVolumeSource
  awsElasticBlockStore=4?AWSElasticBlockStoreVolumeSource gitRepo=5?GitRepoVolumeSource
  secret=6?SecretVolumeSource nfs=7?NFSVolumeSource iscsi=8?ISCSIVolumeSource
  glusterfs=9?GlusterfsVolumeSource persistentVolumeClaim=10?PersistentVolumeClaimVolumeSource
  rbd=11?RBDVolumeSource flexVolume=12?FlexVolumeSource cinder=13?CinderVolumeSource
  cephfs=14?CephFSVolumeSource flocker=15?FlockerVolumeSource
  downwardAPI=16?DownwardAPIVolumeSource fc=17?FCVolumeSource azureFile=18?AzureFileVolumeSource
  configMap=19?ConfigMapVolumeSource vsphereVolume=20?VsphereVirtualDiskVolumeSource
  quobyte=21?QuobyteVolumeSource azureDisk=22?AzureDiskVolumeSource
  photonPersistentDisk=23?PhotonPersistentDiskVolumeSource projected=26?ProjectedVolumeSource
  portworxVolume=24?PortworxVolumeSource scaleIO=25?ScaleIOVolumeSource
  storageos=27?StorageOSVolumeSource csi=28?CSIVolumeSource ephemeral=29?EphemeralVolumeSource
  image=30?ImageVolumeSource
VolumeStatus: image=1?ImageVolumeStatus
VsphereVirtualDiskVolumeSource: volumePath=1s fsType=2s storagePolicyName=3s storagePolicyID=4s
WeightedPodAffinityTerm: weight=1i podAffinityTerm=2PodAffinityTerm
WindowsSecurityContextOptions: gmsaCredentialSpecName=1?s gmsaCredentialSpec=2?s runAsUserName=3?s
  hostProcess=4?t
)";

}  // namespace tau::apiserver
