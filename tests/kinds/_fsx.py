"""A file system as AWS lists it, and what AWS documents of its metrics."""

from typing import Any

METRICS_PAGE = "https://docs.aws.amazon.com/fsx/latest/WindowsGuide/fsx-windows-metrics.html"
METRICS_READ = "2026-04"
DOCUMENTED_DIMENSIONS = {"FileSystemId"}
DOCUMENTED_METRICS = {
    "FileServerDiskThroughputBalance", "FileServerDiskIopsBalance", "DiskThroughputBalance",
    "DiskReadBytes", "DiskWriteBytes", "DiskReadOperations", "DiskWriteOperations",
}  # fmt: skip


def file_system(name: str, **more: Any) -> dict[str, Any]:
    return {
        "FileSystemId": name,
        "ResourceARN": f"arn:aws:fsx:us-east-1:123456789012:file-system/{name}",
        "FileSystemType": "WINDOWS",
        "Lifecycle": "AVAILABLE",
        "StorageType": "SSD",
        "StorageCapacity": 1024,
        "WindowsConfiguration": {"ThroughputCapacity": 512},
        **more,
    }


TAGS = [{"Key": "Name", "Value": "orders-db"}]
