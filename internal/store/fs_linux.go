package store

import "syscall"

// NetworkFileSystem names the file system dir is on if it is a network one:
// their locks do not protect a shared write-ahead log.
func NetworkFileSystem(dir string) (name string, bad bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return "", false
	}
	return networkKind(uint32(st.Type))
}

// networkKind knows the magic numbers of statfs(2).
func networkKind(magic uint32) (name string, bad bool) {
	names := map[uint32]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x5346414f: "AFS",
		0x01021997: "9P", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre", 0x73757245: "Coda",
		0x01161970: "GFS2", 0x7461636f: "OCFS2", 0x786f4256: "VirtualBox shared folder",
	}
	name, bad = names[magic]
	return name, bad
}
