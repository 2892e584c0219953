"""Every metric once: its name, kind, labels and what it says. The docs are made of this."""

from burstwatch.web.exposition import Definition, counter, gauge, histogram
from burstwatch.web.refusals import REFUSALS

VOLUME = ("volume_id", "device")
BUCKET = ("volume_id", "device", "bucket")

BUILD_INFO = gauge("exporter_build_info", ("version",), "1, with the version of the exporter.")
SOURCE_UP = gauge(
    "source_up",
    ("source",),
    "1 if the last read of the source had no problem, else 0. The exporter still uses the values that it could read.",
)
SOURCE_SECONDS = gauge(
    "source_duration_seconds", ("source",), "How long the source took when it was last read."
)
STATE_SAVED = gauge(
    "state_saved_timestamp_seconds",
    (),
    "When the intervals were last written to the state file, by the wall clock.",
)
VOLUME_INFO = gauge(
    "volume_info",
    (*VOLUME, "volume_type", "type_source"),
    "1 for each EBS volume and each configured device; volume_type is empty while the type is not known. type_source is config or ec2.",
)
STACK_INFO = gauge(
    "device_volume_info",
    ("device", "name", "volume_id", "volume_device"),
    "1 for each volume under a partition, LVM, encrypted or RAID device.",
)
MOUNT_INFO = gauge(
    "mount_info",
    ("mountpoint", "device", "fstype", "volume_id", "volume_device"),
    "1 for each volume under a mounted file system.",
)
POD_VOLUME_INFO = gauge(
    "kubernetes_volume_info",
    (*VOLUME, "persistentvolume", "pod_uid"),
    "1 for each volume that kubelet has mounted for a pod. kube-state-metrics has the names of the claim (kube_persistentvolume_claim_ref) and of the pod (kube_pod_info).",
)
SIZE = gauge("volume_size_bytes", VOLUME, "Size of the device.")
READ_OPS = counter(
    "volume_read_ops", VOLUME, "Reads completed since the device appeared, from /proc/diskstats."
)
WRITE_OPS = counter(
    "volume_write_ops", VOLUME, "Writes completed since the device appeared, from /proc/diskstats."
)
READ_BYTES = counter(
    "volume_read_bytes", VOLUME, "Bytes read since the device appeared, from /proc/diskstats."
)
WRITE_BYTES = counter(
    "volume_write_bytes", VOLUME, "Bytes written since the device appeared, from /proc/diskstats."
)
LIMIT_OPS = gauge(
    "volume_limit_ops_per_second",
    VOLUME,
    "The most operations a second that the volume serves with credits left, by its type and size.",
)
LIMIT_BYTES = gauge(
    "volume_limit_bytes_per_second",
    VOLUME,
    "The most bytes a second that the volume serves with credits left, by its type and size.",
)
CAPACITY = gauge(
    "credit_capacity",
    BUCKET,
    "Credits in a full bucket: I/O operations (bucket io) or MiB (bucket throughput).",
)
REFILL = gauge(
    "credit_refill_per_second",
    BUCKET,
    "Credits that the bucket gains each second: the volume's baseline.",
)
BURST = gauge(
    "credit_burst_per_second",
    BUCKET,
    "Credits that can be spent a second: the burst of the volume, or less where its instance allows less.",
)
CHARGED = counter(
    "credits_charged",
    (*BUCKET, "bound"),
    "Credits spent since this process started: what the I/O has cost, and what CloudWatch's balances show beside it. By bound: "
    "least (EBS merges all I/O), likely (each random I/O costs one credit) and most (EBS merges nothing).",
)
BALANCE = gauge(
    "credit_balance_ratio",
    (*BUCKET, "bound"),
    "Share of the bucket that is left, 0 to 1: the truth lies between low and high. The exporter computes the likely time to exhaustion from likely. likely is absent if the interval is too wide.",
)
EXHAUSTION = gauge(
    "time_to_exhaustion_seconds",
    (*BUCKET, "bound"),
    "Seconds until no credits are left, +Inf for never. low is the shortest time at the present demand, worst the time at full burst. likely is absent if the interval is too wide.",
)
FULL = gauge(
    "time_to_full_seconds",
    BUCKET,
    "Seconds until the bucket is full at the present load, +Inf for never; absent if that is not known.",
)
STATE = gauge(
    "credit_state",
    (*BUCKET, "state"),
    "1 for the state that the bucket is in, else 0: finite (runs out at this demand), infinite (does not), "
    "exhausted, not_applicable (no bucket), idle (no I/O), unknown.",
)
BINDING = gauge(
    "binding_constraint_info",
    (*VOLUME, "constraint"),
    "1 for the limit that holds the I/O back. The constraint is none if nothing does.",
)
HINT = gauge(
    "served_at_baseline",
    BUCKET,
    "1 if the volume gets only its baseline and asks for more. The bucket may be empty, but this is not certain "
    "(a limit of the instance, first reads from a snapshot or a cgroup limit look the same).",
)
ABSENT = gauge(
    "credit_likely_absent_info",
    (*BUCKET, "reason"),
    "1 for the reason why the bound likely is absent: wide (low and high are too far apart), unseen (CloudWatch's last balance shows more "
    "spending than is counted here), cheaper (more is served than an empty bucket allows).",
)
ORIGIN = gauge(
    "credit_interval_info",
    (*BUCKET, "origin"),
    "1 for the origin of the interval: published (by CloudWatch), restored (saved, and all I/O since is counted), "
    "reattached or rebooted "
    "(the I/O of a gap was not seen, so the range is wider), created (a new volume), appeared (all I/O since the device came is "
    "counted), unknown, resized, contradicted (more I/O than the stated bucket allows), doubted (for some time the counters could not be believed, so the range is wider).",
)

PUBLISHED = gauge(
    "cloudwatch_balance_ratio", BUCKET, "The newest BurstBalance that CloudWatch has, 0 to 1."
)
PUBLISHED_AT = gauge(
    "cloudwatch_balance_timestamp_seconds", BUCKET, "The end of the period of that BurstBalance."
)
DRIFT = gauge(
    "reconciliation_drift_ratio",
    BUCKET,
    "How far CloudWatch's balance is outside the range that the exporter had for that moment, as a share of the bucket: "
    "0 inside, above 0 if it is above the range, below 0 if it is below.",
)
DISAGREEMENTS = counter(
    "reconciliation_disagreements",
    BUCKET,
    "How many balances of CloudWatch were outside the range, which the balance then replaced.",
)
_LOG_PAGE = "from EBS NVMe log page 0xD0, since the attachment"
EBS_READ_OPS = counter("ebs_read_ops", VOLUME, f"Reads completed, {_LOG_PAGE} (total_read_ops).")
EBS_WRITE_OPS = counter(
    "ebs_write_ops", VOLUME, f"Writes completed, {_LOG_PAGE} (total_write_ops)."
)
EBS_READ_BYTES = counter("ebs_read_bytes", VOLUME, f"Bytes read, {_LOG_PAGE} (total_read_bytes).")
EBS_WRITE_BYTES = counter(
    "ebs_write_bytes", VOLUME, f"Bytes written, {_LOG_PAGE} (total_write_bytes)."
)
EBS_READ_SECONDS = counter(
    "ebs_read_seconds", VOLUME, f"Time that all reads took together, {_LOG_PAGE} (total_read_time)."
)
EBS_WRITE_SECONDS = counter(
    "ebs_write_seconds",
    VOLUME,
    f"Time that all writes took together, {_LOG_PAGE} (total_write_time).",
)
EBS_EXCEEDED_IOPS = counter(
    "ebs_exceeded_iops_seconds",
    VOLUME,
    f"How long more IOPS were asked for than the volume has, {_LOG_PAGE} (ebs_volume_performance_exceeded_iops).",
)
EBS_EXCEEDED_TP = counter(
    "ebs_exceeded_tp_seconds",
    VOLUME,
    f"How long more throughput was asked for than the volume has, {_LOG_PAGE} (ebs_volume_performance_exceeded_tp).",
)
EBS_EC2_EXCEEDED_IOPS = counter(
    "ebs_ec2_exceeded_iops_seconds",
    VOLUME,
    f"How long more IOPS were asked for than the instance has, {_LOG_PAGE} "
    "(ec2_instance_ebs_performance_exceeded_iops).",
)
EBS_EC2_EXCEEDED_TP = counter(
    "ebs_ec2_exceeded_tp_seconds",
    VOLUME,
    f"How long more throughput was asked for than the instance has, {_LOG_PAGE} "
    "(ec2_instance_ebs_performance_exceeded_tp).",
)
EBS_QUEUE = gauge(
    "ebs_volume_queue_length",
    VOLUME,
    "I/O waiting now, from EBS NVMe log page 0xD0 (volume_queue_length).",
)
EBS_READ_LATENCY = histogram(
    "ebs_read_io_latency_seconds", VOLUME, f"Latency of reads, {_LOG_PAGE}, in EBS's own bins."
)
EBS_WRITE_LATENCY = histogram(
    "ebs_write_io_latency_seconds", VOLUME, f"Latency of writes, {_LOG_PAGE}, in EBS's own bins."
)

INSTANCE = ("instance_type",)
CPU_USED = counter(
    "cpu_used_seconds",
    INSTANCE,
    "CPU time in use since the start, all CPUs together, from /proc/stat. Only where instance_type is burstable.",
)
CPU_STOLEN = counter(
    "cpu_stolen_seconds",
    INSTANCE,
    "CPU time that the hypervisor took away since the start (steal), from /proc/stat.",
)
CPU_CAPACITY = gauge(
    "cpu_credit_capacity", INSTANCE, "CPU credits in a full bucket, in vCPU-seconds."
)
CPU_REFILL = gauge(
    "cpu_credit_refill_per_second",
    INSTANCE,
    "vCPU-seconds that the bucket gains each second: the instance's baseline in vCPUs.",
)
CPU_BURST = gauge(
    "cpu_credit_burst_per_second", INSTANCE, "vCPU-seconds that can be spent a second: its vCPUs."
)
CPU_BALANCE = gauge(
    "cpu_credit_balance_ratio",
    (*INSTANCE, "bound"),
    "Share of the CPU credits that is left, 0 to 1: the truth lies between low and high. likely is absent where the "
    "balance is not known well enough.",
)
CPU_EXHAUSTION = gauge(
    "cpu_time_to_exhaustion_seconds",
    (*INSTANCE, "bound"),
    "Seconds until no CPU credits are left, +Inf for never: low is the shortest time at the present load, worst at full load. In "
    "Unlimited mode, the instance then begins to spend surplus credits.",
)
CPU_HELD_BACK = gauge(
    "cpu_held_back",
    INSTANCE,
    "1 if the CPUs get just their baseline while the hypervisor takes time away: a hint of an instance in Standard mode "
    "without credits.",
)

RUN = (*VOLUME, "profile")
STEP = (*RUN, "step")
FIO_RUN_AT = gauge("fio_last_run_timestamp_seconds", RUN, "When the newest measurement ended.")
FIO_AGE = gauge("fio_result_age_seconds", RUN, "How old the newest measurement is.")
FIO_SUCCESS = gauge(
    "fio_success", RUN, "1 if the measurement finished, 0 if it failed or was stopped."
)
FIO_SECONDS = gauge(
    "fio_duration_seconds",
    RUN,
    "How long the measurement took, with the time to write its scratch file.",
)
FIO_CREDITS = gauge(
    "fio_credits_spent",
    (*RUN, "bound"),
    "Credits that all I/O of the volume cost during the measurement: the lowest and the highest possible value.",
)
FIO_IOPS = gauge("fio_ops_per_second", (*STEP, "direction"), "Operations a second, by fio's count.")
FIO_BYTES = gauge("fio_bytes_per_second", (*STEP, "direction"), "Bytes a second, by fio's count.")
FIO_MEAN = gauge("fio_latency_mean_seconds", (*STEP, "direction"), "Mean latency of an operation.")
FIO_LATENCY = gauge(
    "fio_latency_seconds",
    (*STEP, "direction", "percentile"),
    "Completion latency at this percentile.",
)
FIO_PROMISED = gauge(
    "fio_promised_ops_per_second",
    STEP,
    "What the volume promises for this step, both directions together.",
)
FIO_VERDICT = gauge(
    "fio_verdict_info",
    (*STEP, "verdict"),
    "1 with the verdict: bursting, at baseline, instance-limited, as promised, as asked, below its promise, "
    "not this type, no promise, too short.",
)

NET_RECEIVED = counter(
    "network_receive_bytes", ("interface",), "Bytes received by an interface of ENA, from /sys."
)
NET_SENT = counter(
    "network_transmit_bytes", ("interface",), "Bytes sent by an interface of ENA, from /sys."
)
NET_EXCEEDED = counter(
    "network_allowance_exceeded",
    ("interface", "allowance"),
    "Packets that were queued or dropped because the instance was above an allowance of its network: bw_in and bw_out (bandwidth), "
    "pps (packets a second), conntrack (connections), linklocal (DNS, metadata and time). From ENA's own statistics.",
)
NET_THROTTLED = gauge(
    "network_throttled",
    ("allowance",),
    "1 if packets were queued or dropped in the last sample because the instance was above this allowance of its network; absent where the driver does not count it.",
)
NET_BASELINE = gauge(
    "network_baseline_bytes_per_second",
    INSTANCE,
    "What the network of the instance sustains in each direction, by its type.",
)
NET_PEAK = gauge(
    "network_burst_bytes_per_second",
    INSTANCE,
    "The most that the network of the instance moves in each direction, by its type.",
)
_LEARNED = "An estimate: AWS publishes no credits of the network, so their number is learned from a burst that ended."
NET_CAPACITY = gauge(
    "network_credit_capacity_bytes",
    ("direction",),
    f"Bytes that can be moved above the baseline from full to empty; absent until that was seen. {_LEARNED}",
)
NET_BALANCE = gauge(
    "network_credit_balance_ratio",
    ("direction",),
    f"Share of the network's credits that is left, 0 to 1; absent until their number is known. {_LEARNED}",
)
NET_EXHAUSTION = gauge(
    "network_time_to_exhaustion_seconds",
    ("direction",),
    f"Seconds until no credits of the network are left at the rate of the last minute, +Inf for never; absent while that is not known. {_LEARNED}",
)
NET_LASTED = gauge(
    "network_last_burst_seconds",
    ("direction",),
    "How long after the network's credits were last full they were used up, the last time that this was seen.",
)
NET_EMPTY = gauge(
    "network_held_at_baseline",
    ("direction",),
    "1 if the instance gets just the baseline of its network and has asked for more for two minutes: its credits are used up.",
)

#: In the order of the log page.
METRICS: tuple[Definition, ...] = (
    BUILD_INFO, REFUSALS, SOURCE_UP, SOURCE_SECONDS, STATE_SAVED,
    VOLUME_INFO, STACK_INFO, MOUNT_INFO, POD_VOLUME_INFO, SIZE,
    READ_OPS, WRITE_OPS, READ_BYTES, WRITE_BYTES, LIMIT_OPS, LIMIT_BYTES,
    CAPACITY, REFILL, BURST, CHARGED, BALANCE, EXHAUSTION, FULL, STATE, BINDING, HINT, ABSENT, ORIGIN, PUBLISHED, PUBLISHED_AT, DRIFT, DISAGREEMENTS,
    EBS_READ_OPS, EBS_WRITE_OPS, EBS_READ_BYTES, EBS_WRITE_BYTES, EBS_READ_SECONDS, EBS_WRITE_SECONDS,
    EBS_EXCEEDED_IOPS, EBS_EXCEEDED_TP, EBS_EC2_EXCEEDED_IOPS, EBS_EC2_EXCEEDED_TP, EBS_QUEUE,
    EBS_READ_LATENCY, EBS_WRITE_LATENCY,
    CPU_USED, CPU_STOLEN, CPU_CAPACITY, CPU_REFILL, CPU_BURST, CPU_BALANCE, CPU_EXHAUSTION, CPU_HELD_BACK,
    FIO_RUN_AT, FIO_AGE, FIO_SUCCESS, FIO_SECONDS, FIO_CREDITS, FIO_IOPS, FIO_BYTES, FIO_MEAN, FIO_LATENCY,
    FIO_PROMISED, FIO_VERDICT,
    NET_RECEIVED, NET_SENT, NET_EXCEEDED, NET_THROTTLED, NET_BASELINE, NET_PEAK, NET_CAPACITY, NET_BALANCE, NET_EXHAUSTION, NET_LASTED, NET_EMPTY,
)  # fmt: skip
