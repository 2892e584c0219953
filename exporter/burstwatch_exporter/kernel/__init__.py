"""What the kernel and udev say of the host's disks, and whether that can be believed."""
