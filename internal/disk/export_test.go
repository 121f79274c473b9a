package disk

// OpenWalking opens a root as where the kernel has no openat2(2).
func OpenWalking(dir string) (*Root, error) {
	return openAs(dir, openWalked)
}
