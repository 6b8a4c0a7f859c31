// Schema text: volumes. Names and types are the API's own; the format is in meta/schema_text.h.
#include "kube/schema_texts.h"

namespace tau::kube::schema_texts {

const std::string_view volume = R"schema(
package io.k8s.api.core.v1
type LocalObjectReference | An object of the same namespace.
  name string | Its name.
type Volume | Files that containers of a pod share.
  awsElasticBlockStore AWSElasticBlockStoreVolumeSource | A disk of Amazon EBS.
  azureDisk AzureDiskVolumeSource | An Azure disk.
  azureFile AzureFileVolumeSource | An Azure file share.
  cephfs CephFSVolumeSource | A Ceph file system.
  cinder CinderVolumeSource | An OpenStack disk.
  configMap ConfigMapVolumeSource | The keys of a ConfigMap as files.
  csi CSIVolumeSource | A volume of a CSI driver.
  downwardAPI DownwardAPIVolumeSource | Facts about the pod as files.
  emptyDir EmptyDirVolumeSource | An empty directory that lives as long as the pod.
  ephemeral EphemeralVolumeSource | A claim made for the pod alone.
  fc FCVolumeSource | A Fibre Channel disk.
  flexVolume FlexVolumeSource | A volume of an exec-based driver.
  flocker FlockerVolumeSource | A Flocker dataset.
  gcePersistentDisk GCEPersistentDiskVolumeSource | A disk of Google Compute Engine.
  gitRepo GitRepoVolumeSource | A clone of a repository; no longer supported.
  glusterfs GlusterfsVolumeSource | A Gluster volume.
  hostPath HostPathVolumeSource | A file or directory of the node.
  image ImageVolumeSource | Image to use.
  iscsi ISCSIVolumeSource | An iSCSI disk.
  name* string | Unique within the pod.
  nfs NFSVolumeSource | An NFS export.
  persistentVolumeClaim PersistentVolumeClaimVolumeSource | A claim in the same namespace.
  photonPersistentDisk PhotonPersistentDiskVolumeSource | A Photon disk.
  portworxVolume PortworxVolumeSource | A Portworx volume.
  projected ProjectedVolumeSource | Several sources in one directory.
  quobyte QuobyteVolumeSource | A Quobyte volume.
  rbd RBDVolumeSource | A Ceph block device.
  scaleIO ScaleIOVolumeSource | A ScaleIO volume.
  secret SecretVolumeSource | The keys of a Secret as files.
  storageos StorageOSVolumeSource | A StorageOS volume.
  vsphereVolume VsphereVirtualDiskVolumeSource | A vSphere disk.
type AWSElasticBlockStoreVolumeSource | A disk of Amazon EBS.
  fsType string | Kind of file system, such as ext4.
  partition int32 | Partition of the disk; 0 or absent means the whole disk.
  readOnly boolean | True forbids writing.
  volumeID* string | Identifier of the volume at its provider.
type AzureDiskVolumeSource | An Azure disk.
  cachingMode string | None, ReadOnly or ReadWrite.
  diskName* string | Name of the disk.
  diskURI* string | URI of the disk.
  fsType string | Kind of file system, such as ext4.
  kind string | What the object is.
  readOnly boolean | True forbids writing.
type AzureFileVolumeSource | An Azure file share.
  readOnly boolean | True forbids writing.
  secretName* string | Name of the Secret.
  shareName* string | Name of the share.
type CephFSVolumeSource | A Ceph file system.
  monitors* []string | Addresses of the monitors.
  path string | Path, as named by the type.
  readOnly boolean | True forbids writing.
  secretFile string | Path of a key file on the node.
  secretRef LocalObjectReference | Secret with the credentials.
  user string | User name or id to act as.
type CinderVolumeSource | An OpenStack disk.
  fsType string | Kind of file system, such as ext4.
  readOnly boolean | True forbids writing.
  secretRef LocalObjectReference | Secret with the credentials.
  volumeID* string | Identifier of the volume at its provider.
type ConfigMapVolumeSource | A ConfigMap as files.
  defaultMode int32 | Permission bits.
  defaultUser int64 | Owner of the files made, by user id.
  items []KeyToPath | Which keys, and where; all by default.
  name string | The ConfigMap.
  optional boolean | True lets it be absent.
type KeyToPath | Gives a key its file name.
  key* string | The key.
  mode int32 | Permission bits.
  path* string | Path in the volume.
  user int64 | User name or id to act as.
type CSIVolumeSource | A volume of a CSI driver.
  driver* string | Name of the driver.
  fsType string | Kind of file system, such as ext4.
  nodePublishSecretRef LocalObjectReference | Secret that is handed to the driver on the node.
  readOnly boolean | True forbids writing.
  volumeAttributes map:string | Settings that are handed to the driver.
type DownwardAPIVolumeSource | Facts about the pod as files.
  defaultMode int32 | Permission bits of files without their own; 0644 by default.
  defaultUser int64 | Owner of the files made, by user id.
  items []DownwardAPIVolumeFile | Which keys become files, and where; all by default.
type DownwardAPIVolumeFile | One fact about the pod as a file.
  fieldRef ObjectFieldSelector | A field of the pod.
  mode int32 | Permission bits of the file or directory.
  path* string | Path, as named by the type.
  resourceFieldRef ResourceFieldSelector | A request or limit of a container.
  user int64 | User name or id to act as.
type EmptyDirVolumeSource | An empty directory.
  medium string | Memory keeps it in memory.
  mode int32 | Permission bits of the file or directory.
  sizeLimit quantity | The most it may hold.
type EphemeralVolumeSource | A claim made for the pod alone.
  volumeClaimTemplate PersistentVolumeClaimTemplate | The claim to make for the pod.
type PersistentVolumeClaimTemplate | The claim to make.
  metadata ObjectMeta | Name, labels and the like.
  spec* PersistentVolumeClaimSpec | What is wanted.
type PersistentVolumeClaimSpec | What a claim asks for.
  accessModes []string | How the volume may be mounted: ReadWriteOnce and the like.
  dataSource TypedLocalObjectReference | What the volume is filled from: a snapshot or claim.
  dataSourceRef TypedObjectReference | What the volume is filled from; any kind.
  resources VolumeResourceRequirements | What it asks for and may use at most.
  selector LabelSelector | Which volumes may be used, by label.
  storageClassName string | Class that provides the volume.
  volumeAttributesClassName string | Class of the volume's changeable attributes.
  volumeMode string | Filesystem or Block.
  volumeName string | Name of the volume.
type TypedLocalObjectReference | An object of any kind in the same namespace.
  apiGroup string | API group of the object; empty for the core group.
  kind* string | What the object is.
  name* string | Name of the thing referred to, or of this entry.
type TypedObjectReference | An object of any kind.
  apiGroup string | API group of the object; empty for the core group.
  kind* string | What the object is.
  name* string | Name of the thing referred to, or of this entry.
  namespace string | Namespace of the object.
type VolumeResourceRequirements | How much storage is asked for.
  limits map:quantity | The most that may be used, by resource.
  requests map:quantity | What is asked for, by resource.
type FCVolumeSource | A Fibre Channel disk.
  fsType string | Kind of file system, such as ext4.
  lun int32 | Logical unit number.
  readOnly boolean | True forbids writing.
  targetWWNs []string | World-wide names of the targets.
  wwids []string | World-wide identifiers, instead of targetWWNs and lun.
type FlexVolumeSource | A volume of an exec-based driver.
  driver* string | Name of the driver.
  fsType string | Kind of file system, such as ext4.
  options map:string | Settings that are handed to the driver.
  readOnly boolean | True forbids writing.
  secretRef LocalObjectReference | Secret with the credentials.
type FlockerVolumeSource | A Flocker dataset.
  datasetName string | Name of the dataset.
  datasetUUID string | UUID of the dataset.
type GCEPersistentDiskVolumeSource | A disk of Google Compute Engine.
  fsType string | Kind of file system, such as ext4.
  partition int32 | Partition of the disk; 0 or absent means the whole disk.
  pdName* string | Name of the disk.
  readOnly boolean | True forbids writing.
type GitRepoVolumeSource | A clone of a repository; no longer supported.
  directory string | Directory to clone into.
  repository* string | URL of the repository.
  revision string | Commit to check out.
type GlusterfsVolumeSource | A Gluster volume.
  endpoints* string | Name of the endpoints that list the servers.
  path* string | Path, as named by the type.
  readOnly boolean | True forbids writing.
type HostPathVolumeSource | A path of the node.
  path* string | The path.
  type string | What it must be: Directory, File, ...
type ImageVolumeSource | The files of an image, read-only.
  pullPolicy string | When the image is fetched.
  reference string | The image to mount.
type ISCSIVolumeSource | An iSCSI disk.
  chapAuthDiscovery boolean | Whether discovery uses CHAP.
  chapAuthSession boolean | Whether sessions use CHAP.
  fsType string | Kind of file system, such as ext4.
  initiatorName string | Name of the initiator.
  iqn* string | Name of the target.
  iscsiInterface string | Network interface to use.
  lun* int32 | Logical unit number.
  portals []string | Further addresses of the target.
  readOnly boolean | True forbids writing.
  secretRef LocalObjectReference | Secret with the credentials.
  targetPortal* string | Address of the target.
type NFSVolumeSource | An NFS export.
  path* string | Path, as named by the type.
  readOnly boolean | True forbids writing.
  server* string | Host name or address of the server.
type PersistentVolumeClaimVolumeSource | A claim in the same namespace.
  claimName* string | Name of the claim.
  readOnly boolean | True forbids writing.
type PhotonPersistentDiskVolumeSource | A Photon disk.
  fsType string | Kind of file system, such as ext4.
  pdID* string | Identifier of the disk.
type PortworxVolumeSource | A Portworx volume.
  fsType string | Kind of file system, such as ext4.
  readOnly boolean | True forbids writing.
  volumeID* string | Identifier of the volume at its provider.
type ProjectedVolumeSource | Several sources in one directory.
  defaultMode int32 | Permission bits of files without their own; 0644 by default.
  defaultUser int64 | Owner of the files made, by user id.
  sources []VolumeProjection | The sources, put together in one directory.
type VolumeProjection | One source of a projected volume; just one is set.
  clusterTrustBundle ClusterTrustBundleProjection | Certificates to trust as a file.
  configMap ConfigMapProjection | The ConfigMap.
  downwardAPI DownwardAPIProjection | Facts about the pod as files.
  podCertificate PodCertificateProjection | A certificate for the pod as files.
  secret SecretProjection | The Secret.
  serviceAccountToken ServiceAccountTokenProjection
      | A token of the pod's service account as a file.
type ClusterTrustBundleProjection | Certificates to trust as a file.
  labelSelector LabelSelector | Which pods are meant.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
  path* string | Path, as named by the type.
  signerName string | Signer of the certificates.
  user int64 | User name or id to act as.
type ConfigMapProjection | Keys of a ConfigMap as files.
  items []KeyToPath | Which keys become files, and where; all by default.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
type DownwardAPIProjection | Facts about the pod as files.
  items []DownwardAPIVolumeFile | Which keys become files, and where; all by default.
type PodCertificateProjection | A certificate for the pod as files.
  certificateChainPath string | File for the certificate chain.
  credentialBundlePath string | File for key and certificates together.
  keyPath string | File for the private key.
  keyType* string | Kind of key to make.
  maxExpirationSeconds int32 | Longest life of the certificate.
  signerName* string | Signer of the certificates.
  user int64 | User name or id to act as.
  userAnnotations map:string | Annotations handed to the signer.
type SecretProjection | Keys of a Secret as files.
  items []KeyToPath | Which keys become files, and where; all by default.
  name string | Name of the thing referred to, or of this entry.
  optional boolean | True lets the source be absent.
type ServiceAccountTokenProjection | A token of the pod's service account as a file.
  audience string | Whom the token is for.
  expirationSeconds int64 | Life of the token in seconds.
  path* string | Path, as named by the type.
  user int64 | User name or id to act as.
type QuobyteVolumeSource | A Quobyte volume.
  group string | Group to act as.
  readOnly boolean | True forbids writing.
  registry* string | Addresses of the registry.
  tenant string | Owner of the volume at its provider.
  user string | User name or id to act as.
  volume* string | Name of the volume.
type RBDVolumeSource | A Ceph block device.
  fsType string | Kind of file system, such as ext4.
  image* string | Image to use.
  keyring string | Path of the key ring.
  monitors* []string | Addresses of the monitors.
  pool string | Pool that holds the image.
  readOnly boolean | True forbids writing.
  secretRef LocalObjectReference | Secret with the credentials.
  user string | User name or id to act as.
type ScaleIOVolumeSource | A ScaleIO volume.
  fsType string | Kind of file system, such as ext4.
  gateway* string | Address of the gateway.
  protectionDomain string | Domain within the system.
  readOnly boolean | True forbids writing.
  secretRef* LocalObjectReference | Secret with the credentials.
  sslEnabled boolean | Whether the gateway is spoken to by TLS.
  storageMode string | Thick or thin provisioning.
  storagePool string | Pool within the system.
  system* string | Name of the storage system.
  volumeName string | Name of the volume.
type SecretVolumeSource | A Secret as files.
  defaultMode int32 | Permission bits.
  defaultUser int64 | Owner of the files made, by user id.
  items []KeyToPath | Which keys, and where; all by default.
  optional boolean | True lets it be absent.
  secretName string | The Secret.
type StorageOSVolumeSource | A StorageOS volume.
  fsType string | Kind of file system, such as ext4.
  readOnly boolean | True forbids writing.
  secretRef LocalObjectReference | Secret with the credentials.
  volumeName string | Name of the volume.
  volumeNamespace string | Namespace of the volume at its provider.
type VsphereVirtualDiskVolumeSource | A vSphere disk.
  fsType string | Kind of file system, such as ext4.
  storagePolicyID string | Identifier of the storage policy.
  storagePolicyName string | Name of the storage policy.
  volumePath* string | Path that names the disk.
)schema";

}  // namespace tau::kube::schema_texts
