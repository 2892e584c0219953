"""The state and the operations of the fake, with AWS's limits and scripted faults."""

import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from statistics import fmean
from typing import Any

from tests.fake.deployed import Deployed
from tests.fake.filters import ids_that_match, matches
from tests.fake.herd import Herd
from tests.fake.messaging import Messaging
from tests.fake.metric_math.expressions import answer
from tests.fake.metric_math.series import Metric, QueryError
from tests.fake.mixed import Mixed
from tests.fake.modelled import Modelled
from tests.fake.organization import Member, Organized
from tests.fake.peers import Peers
from tests.fake.quotas import Quotas
from tests.fake.region import Key, Region
from tests.fake.tagging import Tagged
from tests.fake.wire import WireError

ACCOUNT = "123456789012"
QUERIES, DATAPOINTS, PUT_METRICS = 500, 100_800, 1_000
ALARM_PAGE = 100


@dataclass
class FakeAws(Deployed, Messaging, Organized, Peers, Tagged):
    """An account. ``clock`` is its time; faults are scripted through the fields below.

    ``page_size`` caps every page; ``delay_s`` is how late a datapoint is visible after
    its period; ``denied`` are operations that are refused, in AWS's words or in ``denied_words``, ``denied_values`` of a filter too, and
    without ``takes_wildcards`` no filter has any; ``throttled`` how many more
    calls of an operation are; ``failing_pages`` which call of an operation is refused;
    ``throttled_pages`` of GetMetricData after a first are; the next call of a
    ``stalled`` operation is answered once its event is set; ``cut`` is how many answers of one end in the middle, and those of ``hollow`` ones have nothing in them;
    ``managed_resources`` are hidden from listings that do not ask for them, as AWS's default is, or visible. ``unlisted`` volumes are missing from every listing, and what ``doubles`` has the first item of each list twice; ``repeats_tokens`` makes GetMetricData answer the same page for ever;
    ``before`` has what a test does with the arguments of an operation before that is answered;
    ``failing_series`` maps a resource to the status code of
    its series; ``partial_after`` splits GetMetricData into pages of so many points;
    ``functions`` are Lambda's, each of an event; ``roles`` may be assumed, with their external id, and ``most_alarms`` is the account's quota of those;
    ``mutes`` are the mute rules that are active, with the names of the alarms that each mutes;
    ``quotas`` are those of calls and datapoints, where a test wants them. ``calls`` are kept unless that is
    switched off, ``counted`` and ``billed_metrics`` always.
    """

    regions: dict[str, Region] = field(default_factory=lambda: defaultdict(Region))
    enabled: tuple[str, ...] = ("us-east-1",)
    page_size: int = 1_000
    delay_s: float = 0.0
    denied: set[str] = field(default_factory=set)
    denied_values: set[str] = field(default_factory=set)
    denied_words: str = ""
    takes_wildcards: bool = True
    closed_regions: set[str] = field(default_factory=set)
    throttled: dict[str, int] = field(default_factory=dict)
    failing_pages: dict[str, int] = field(default_factory=dict)
    throttled_pages: int = 0
    stalled: dict[str, threading.Event] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    hollow: set[str] = field(default_factory=set)
    unlisted: set[str] = field(default_factory=set)
    managed_resources: str = "hidden"
    doubles: bool = False
    repeats_tokens: bool = False
    before: dict[str, Callable[[dict[str, Any]], None]] = field(default_factory=dict)
    failing_series: dict[str, str] = field(default_factory=dict)
    failing_metrics: dict[str, str] = field(default_factory=dict)
    partial_after: int | None = None
    functions: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    is_administrator: bool = True
    queued: list[dict[str, Any]] = field(default_factory=list)
    refused_messages: int = 0
    refuses_tags: bool = False
    caller: str = ""
    most_alarms: int | None = None
    has_runbooks: bool = True
    mutes: dict[str, list[str]] = field(default_factory=dict)
    quotas: Quotas | None = None
    instance_types: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    keeps_calls: bool = True
    #: Whether alarms are evaluated before they are described; a test evaluates them when it likes.
    evaluates_alarms: bool = False
    counted: Counter[str] = field(default_factory=Counter)
    billed_metrics: int = 0
    _tokens: dict[str, tuple[list[Any], int]] = field(default_factory=dict)
    _ids: Any = field(default_factory=lambda: count(1))

    # What a test puts in

    def skip_ids(self, first: int) -> None:
        """Number what is added from now on from there."""
        self._ids = count(first)

    def add_volume(
        self, volume_type: str, size_gib: int, *, instance_id: str | None = None,
        region: str = "us-east-1", name: str | None = None, **more: Any,
    ) -> str:  # fmt: skip
        volume_id = f"vol-{next(self._ids):017x}"
        attachments = [] if instance_id is None else [
            {"InstanceId": instance_id, "Device": "/dev/sdf", "State": "attached", "VolumeId": volume_id}
        ]  # fmt: skip
        self.regions[region].volumes[volume_id] = {
            "VolumeId": volume_id, "VolumeType": volume_type, "Size": size_gib,
            "State": "in-use" if instance_id else "available", "Attachments": attachments, "AvailabilityZone": f"{region}a",
            "Tags": [{"Key": "Name", "Value": name}] if name is not None else [], **more,
        }  # fmt: skip
        return volume_id

    def add_instance(self, instance_type: str, *, region: str = "us-east-1") -> str:
        instance_id = f"i-{next(self._ids):017x}"
        self.regions[region].instances[instance_id] = {
            "InstanceId": instance_id, "InstanceType": instance_type,
            "Placement": {"AvailabilityZone": f"{region}a"},
        }  # fmt: skip
        return instance_id

    def add_instance_type(
        self, name: str, *, iops: int, mb_s: float, hypervisor: str = "nitro",
        baseline_iops: int | None = None, baseline_mb_s: float | None = None,
    ) -> None:  # fmt: skip
        """``iops`` and ``mb_s`` are the maxima, and sustained unless a baseline is given."""
        self.instance_types[name] = {
            "InstanceType": name,
            "Hypervisor": hypervisor,
            "BurstablePerformanceSupported": re.match(r"t\d", name) is not None,
            "EbsInfo": {
                "EbsOptimizedInfo": {
                    "BaselineIops": baseline_iops or iops,
                    "MaximumIops": iops,
                    "BaselineThroughputInMBps": baseline_mb_s or mb_s,
                    "MaximumThroughputInMBps": mb_s,
                }
            },
        }

    def add_item(
        self, service: str, operation: str, item: dict[str, Any], *, region: str = "us-east-1"
    ) -> None:
        """An item as AWS would list it, for any service."""
        there = self.regions[region]
        own: dict[str, tuple[dict[str, dict[str, Any]], str]] = {
            "DescribeVolumes": (there.volumes, "VolumeId"),
            "DescribeInstances": (there.instances, "InstanceId"),
            "DescribeVolumesModifications": (there.modifications, "VolumeId"),
            "DescribeInstanceTypes": (self.instance_types, "InstanceType"),
        }
        if service == "ec2" and operation in own:
            items, key = own[operation]
            items[item[key]] = item
        else:
            there.items[service, operation].append(item)

    def add_herd(self, herd: Herd, *, region: str = "us-east-1") -> None:
        """A fleet that is reported by rule."""
        there = self.regions[region]
        there.herd = herd
        there.volumes.update(herd.volumes())
        there.instances.update(herd.instances())

    def add_mixed(self, mixed: Mixed, *, region: str = "us-east-1") -> None:
        """Other things than volumes that are reported by rule."""
        self.regions[region].mixed = mixed
        self.add_instance_type(
            "t3.medium", iops=11_800, mb_s=260.625, baseline_iops=2_000, baseline_mb_s=43.75
        )
        self.add_instance_type(
            "m5.large", iops=18_750, mb_s=593.75, baseline_iops=3_600, baseline_mb_s=81.25
        )
        for service, operation, item in mixed.items():
            self.add_item(service, operation, item, region=region)

    def put(
        self, namespace: str, metric: str, dimensions: dict[str, str], at: float, value: float,
        *, region: str = "us-east-1",
    ) -> None:  # fmt: skip
        key = (namespace, metric, tuple(sorted(dimensions.items())))
        self.regions[region].metrics[key][at] = value

    # Calls

    def call(
        self, service: str, operation: str, params: dict[str, Any], region: str
    ) -> dict[str, Any]:
        self.counted[operation] += 1
        if self.keeps_calls:
            self.calls.append((service, operation, params))
        asked = {value for one in params.get("Filters", ()) for value in one["Values"]}
        is_denied = operation in self.denied or asked & self.denied_values
        if is_denied or region in self.closed_regions:
            code = "UnauthorizedOperation" if service == "ec2" else "AccessDenied"
            words = self.denied_words or f"You are not authorized to perform {operation}"
            raise WireError(code, words, 403)
        if operation in self.failing_pages:
            self.failing_pages[operation] -= 1
            if self.failing_pages[operation] <= 0:
                del self.failing_pages[operation]
                raise WireError("UnauthorizedOperation", "this page is refused", 403)
        throttled = self.throttled.get(operation, 0)
        if throttled > 0 or not (self.quotas is None or self.quotas.takes_call(service, operation)):
            self.throttled[operation] = max(0, throttled - 1)
            code = "RequestLimitExceeded" if service == "ec2" else "Throttling"
            raise WireError(code, "Rate exceeded", 503 if service == "ec2" else 400)
        if operation in self.before:
            self.before[operation](params)
        there, method = self.regions[region], getattr(self, f"_{operation}", None)
        if (service, operation) in there.items:
            return Modelled(service, operation).answer(there.items[service, operation], params)
        if method is None:
            return self._empty(service, operation, params)
        answer: dict[str, Any] = method(params, there, region)
        if self.doubles:
            answer = {
                key: [*one, *one[:1]] if isinstance(one, list) else one
                for key, one in answer.items()
            }
        return answer

    def _empty(self, service: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return Modelled(service, operation).answer([], params)
        except KeyError:
            raise WireError("InvalidAction", f"the fake has no {operation}") from None

    def _GetCallerIdentity(self, _p: Any, _r: Region, _n: str) -> dict[str, Any]:
        return {
            # The credentials of a role name its account.
            "Account": self.caller.removeprefix("ASIA") if "ASIA" in self.caller else ACCOUNT,
            "UserId": "U",
            "Arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/x/y",
        }

    def _Invoke(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        if params["FunctionName"] not in self.functions:
            raise WireError("ResourceNotFoundException", "Function not found", 404)
        return {"Runs": params["FunctionName"]}

    def run(self, function: str, payload: bytes) -> bytes:
        """What a function returns, or Lambda's own words for what it raised."""
        try:
            found = self.functions[function](json.loads(payload))
        except Exception as error:  # noqa: BLE001 - whatever it raises is told
            found = {"errorMessage": str(error), "errorType": type(error).__name__}
        return json.dumps(found).encode()

    def _AssumeRole(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        wanted = self.roles.get(params["RoleArn"])
        if wanted is None or wanted != params.get("ExternalId", ""):
            raise WireError("AccessDenied", f"not authorized to assume {params['RoleArn']}", 403)
        ends = datetime.fromtimestamp(self.clock() + 3_600, tz=UTC)
        return {
            "Credentials": {
                "AccessKeyId": f"ASIA{params['RoleArn'].split(':')[4]}", "SecretAccessKey": "s", "SessionToken": "t",
                "Expiration": ends,
            }
        }  # fmt: skip

    def _DescribeRegions(self, _p: Any, _r: Region, _n: str) -> dict[str, Any]:
        return {"Regions": [{"RegionName": name} for name in self.enabled]}

    def _DescribeVolumes(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        found = self._visible(
            _filtered(region.volumes, params, "volume-id", wild=self.takes_wildcards), params
        )
        found = [one for one in found if one["VolumeId"] not in self.unlisted]
        items, token = self._page(found, params, least=5, most=1_000)
        return {"Volumes": items, "NextToken": token}

    def _DescribeInstances(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        found = self._visible(_filtered(region.instances, params, "instance-id"), params)
        items, token = self._page(found, params, least=5, most=1_000)
        return {"Reservations": [{"Instances": [item]} for item in items], "NextToken": token}

    def _DescribeInstanceTypes(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        names = ids_that_match(self.instance_types, params, "instance-type")
        found = [self.instance_types[name] for name in names]
        if params.get("MaxResults", 100) > 100:
            raise WireError("InvalidParameterValue", "MaxResults must be between 5 and 100")
        items, token = self._page(found, params, least=5, most=100)
        return {"InstanceTypes": items, "NextToken": token}

    def _DescribeVolumesModifications(
        self, params: dict[str, Any], region: Region, _n: str
    ) -> dict[str, Any]:
        names = ids_that_match(region.modifications, params, "volume-id", wild=self.takes_wildcards)
        managed = {name for name in names if _is_hidden(region.volumes.get(name, {}))}
        found = [
            region.modifications[name]
            for name in names
            if name not in managed or self._shows_managed(params)
        ]
        items, token = self._page(found, params, least=5, most=500)
        return {"VolumesModifications": items, "NextToken": token}

    def _GetManagedResourceVisibility(self, _p: Any, _r: Region, _n: str) -> dict[str, Any]:
        return {"Visibility": {"DefaultVisibility": self.managed_resources}}

    def _shows_managed(self, params: dict[str, Any]) -> bool:
        return self.managed_resources == "visible" or bool(params.get("IncludeManagedResources"))

    def _visible(
        self, items: Iterable[dict[str, Any]], params: dict[str, Any]
    ) -> Iterable[dict[str, Any]]:
        """What a listing shows: since 2026-04 AWS hides what its services manage from whoever does not ask for it."""
        shows_all = self._shows_managed(params)
        return [item for item in items if shows_all or not _is_hidden(item)]

    def _GetMetricData(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        queries = params["MetricDataQueries"]
        if len(queries) > QUERIES:
            raise WireError("ValidationError", f"at most {QUERIES} queries, got {len(queries)}")
        if len({query["Id"] for query in queries}) != len(queries):
            raise WireError("ValidationError", "the ids of the queries are not unique")
        if "NextToken" in params and self.throttled_pages > 0:
            self.throttled_pages -= 1
            raise WireError("Throttling", "Rate exceeded")
        if "NextToken" not in params:
            self.billed_metrics += len(queries)
        start, end = _seconds(params["StartTime"]), _seconds(params["EndTime"])
        results = self._results(queries, region, start, end)
        if sum(len(times) for _, _, times, _, _ in results) > DATAPOINTS:
            raise WireError("ValidationError", f"at most {DATAPOINTS} datapoints")
        points = sum(len(times) for _, _, times, _, _ in results)
        back_s = self.clock() - start
        if self.quotas is not None and not self.quotas.takes_datapoints(points, back_s=back_s):
            raise WireError("Throttling", "Rate exceeded: datapoints")
        descending = params.get("ScanBy", "TimestampDescending") == "TimestampDescending"
        skip = 0 if self.repeats_tokens else int(params.get("NextToken", "0"))
        size = self.partial_after or DATAPOINTS
        rows, more = [], False
        for query_id, label, times, values, status in results:
            order = sorted(range(len(times)), key=times.__getitem__, reverse=descending)
            shown = order[skip : skip + size]
            left = len(times) > skip + size
            more = more or left
            rows.append(
                {
                    "Id": query_id,
                    "Label": label,
                    "StatusCode": "PartialData" if left else status,
                }
                # AWS's model requires neither list: an empty one is left out here.
                | (
                    {
                        "Timestamps": [times[one] for one in shown],
                        "Values": [values[one] for one in shown],
                    }
                    if shown
                    else {}
                )
            )
        return {"MetricDataResults": rows, "NextToken": str(skip + size) if more else None}

    def _results(
        self, queries: Sequence[dict[str, Any]], region: Region, start: float, end: float
    ) -> list[tuple[str, str, list[float], list[float], str]]:
        """Id, label, times, values and status of each series. Plain queries can be made to fail."""
        if not any("Expression" in query or "${" in query.get("Label", "") for query in queries):
            labels = [query.get("Label", query["Id"]) for query in queries]
            found = [self._series(query, region, start, end) for query in queries]
            return [
                (name, label, *rest) for label, (name, *rest) in zip(labels, found, strict=True)
            ]
        try:
            answers = answer(queries, _Metrics(self, region), start_s=int(start), end_s=int(end))
        except QueryError as error:
            raise WireError("ValidationError", str(error)) from error
        return [
            (one.id, series.label, [*map(float, series.points)], [*series.points.values()], "Complete")
            for one in answers
            for series in one.series
        ]  # fmt: skip

    def _series(
        self, query: dict[str, Any], region: Region, start: float, end: float
    ) -> tuple[str, list[float], list[float], str]:
        stat = query["MetricStat"]
        metric, period = stat["Metric"], stat["Period"]
        if period % 60:
            raise WireError("ValidationError", f"Period {period} is not a multiple of 60")
        pairs = {d["Name"]: d["Value"] for d in metric.get("Dimensions", ())}
        failing = [self.failing_series[v] for v in pairs.values() if v in self.failing_series]
        if metric["MetricName"] in self.failing_metrics:
            failing.append(self.failing_metrics[metric["MetricName"]])
        if failing:
            return query["Id"], [], [], failing[0]
        volume_id, herd = pairs.get("VolumeId", ""), region.herd
        if herd is not None and herd.has(metric["Namespace"], metric["MetricName"], volume_id):
            ends_s = min(end, self.clock() - self.delay_s - 60 + 1e-6)
            times, values = herd.values(metric["MetricName"], volume_id, start, ends_s, period)
            return query["Id"], list(times), list(values), "Complete"
        name, mixed = metric["MetricName"], region.mixed
        if mixed is not None and mixed.has(metric["Namespace"], name, pairs):
            ends_s = min(end, self.clock() - self.delay_s - 60 + 1e-6)
            times, values = mixed.values(metric["Namespace"], name, pairs, start, ends_s, period)
            return query["Id"], list(times), list(values), "Complete"
        key = (metric["Namespace"], metric["MetricName"], tuple(sorted(pairs.items())))
        points = self.statistic(key, region, stat["Stat"], start, end, period)
        return query["Id"], list(points), list(points.values()), "Complete"

    def statistic(
        self, key: Key, region: Region, name: str, start: float, end: float, period: float
    ) -> dict[float, float]:
        """What is visible of a metric now, by the start of each period that has data."""
        groups: dict[float, list[float]] = defaultdict(list)
        end_of = {"Minimum": 0, "Maximum": 1}
        for at, value in region.metrics.get(key, {}).items():
            if start <= at < end and at + 60 + self.delay_s <= self.clock():
                ends = region.ranges[key].get(at) if name in end_of else None
                groups[at - at % period].append(ends[end_of[name]] if ends else value)
        combine: Any = {
            "Minimum": min, "Maximum": max, "Sum": sum, "Average": fmean, "SampleCount": len,
        }[name]  # fmt: skip
        return {at: combine(group) for at, group in groups.items()}

    def _PutMetricData(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        data = params["MetricData"]
        if params["Namespace"].startswith("AWS/"):
            raise WireError("InvalidParameterValue", "the namespace must not begin with AWS/")
        if len(data) > PUT_METRICS:
            raise WireError("LimitExceeded", f"at most {PUT_METRICS} metrics, got {len(data)}")
        for entry in data:
            dims = {d["Name"]: d["Value"] for d in entry["Dimensions"]}
            key = (params["Namespace"], entry["MetricName"], tuple(sorted(dims.items())))
            at = _seconds(entry["Timestamp"])
            if ("Value" in entry) == ("StatisticValues" in entry):
                raise WireError("InvalidParameterCombination", "either Value or StatisticValues")
            region.metrics[key][at] = entry.get("Value", 0.0)
            if "StatisticValues" in entry:
                some = entry["StatisticValues"]
                region.metrics[key][at] = some["Sum"] / some["SampleCount"]
                if not some["Minimum"] <= region.metrics[key][at] <= some["Maximum"]:
                    raise WireError("InvalidParameterValue", "the average is not within the range")
                region.ranges[key][at] = some["Minimum"], some["Maximum"]
        return {}

    def _PutMetricAlarm(self, params: dict[str, Any], region: Region, name: str) -> dict[str, Any]:
        if len(params.get("AlarmDescription", "")) > 1_024:
            raise WireError("ValidationError", "AlarmDescription is longer than 1024")
        before = region.alarms.get(params["AlarmName"], {})
        if not before and self.most_alarms is not None and len(region.alarms) >= self.most_alarms:
            raise WireError("LimitExceeded", "The maximum limit of alarms has been reached")
        now = datetime.fromtimestamp(self.clock(), tz=UTC)
        tags = params.pop("Tags", [])
        if tags and self.refuses_tags:
            raise WireError("AccessDenied", "with an explicit deny: cloudwatch:TagResource", 403)
        if not before:  # of one that is there, AWS ignores them
            region.alarm_tags[params["AlarmName"]] = {tag["Key"]: tag["Value"] for tag in tags}
        region.alarms[params["AlarmName"]] = {
            **params,
            "AlarmArn": f"arn:aws:cloudwatch:{name}:{ACCOUNT}:alarm:{params['AlarmName']}",
            "StateValue": before.get("StateValue", "INSUFFICIENT_DATA"),
            "StateUpdatedTimestamp": before.get("StateUpdatedTimestamp", now),
            "StateTransitionedTimestamp": before.get("StateTransitionedTimestamp", now),
            "AlarmConfigurationUpdatedTimestamp": now,
        }
        return {}

    def _DescribeAlarms(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        if self.evaluates_alarms:
            self.evaluate_alarms(
                next(name for name, state in self.regions.items() if state is region)
            )
        prefix = params.get("AlarmNamePrefix", "")
        names = params.get("AlarmNames")
        found = [
            a
            for name, a in sorted(region.alarms.items())
            if name.startswith(prefix) and (names is None or name in names)
        ]
        limit = {"MaxResults": min(params.get("MaxRecords", 50), ALARM_PAGE)}
        items, token = self._page(found, {**params, **limit}, least=1, most=ALARM_PAGE)
        # Composite alarms come only to whoever asks for them.
        asks_composite = "CompositeAlarm" in params.get("AlarmTypes", ())
        return {
            "MetricAlarms": [item for item in items if "AlarmRule" not in item],
            "CompositeAlarms": [item for item in items if "AlarmRule" in item and asks_composite],
            "NextToken": token,
        }

    def _DeleteAlarms(self, params: dict[str, Any], region: Region, _n: str) -> dict[str, Any]:
        names = params["AlarmNames"]
        if len(names) > 100:
            raise WireError("ValidationError", "at most 100 alarms")
        missing = [name for name in names if name not in region.alarms]
        if missing:
            raise WireError("ResourceNotFound", f"no alarm {missing[0]}", 404)
        for name in names:
            region.alarms.pop(name, None)  # another call may have been here meanwhile
            region.alarm_tags.pop(name, None)
        return {}

    def _ListAlarmMuteRules(self, _p: Any, _r: Region, name: str) -> dict[str, Any]:
        arn = f"arn:aws:cloudwatch:{name}:{ACCOUNT}:alarm-mute-rule"
        return {
            "AlarmMuteRuleSummaries": [
                {"AlarmMuteRuleArn": f"{arn}:{rule}", "Status": "ACTIVE"} for rule in self.mutes
            ]
        }

    def _GetAlarmMuteRule(self, params: dict[str, Any], _r: Region, _n: str) -> dict[str, Any]:
        rule = params["AlarmMuteRuleName"]
        return {"Name": rule, "MuteTargets": {"AlarmNames": self.mutes[rule]}}

    # Alarms, evaluated when a test says so: once a minute in AWS

    def evaluate_alarms(self, region: str = "us-east-1") -> None:
        """Evaluate every alarm on its last period. Missing data is ignored, unless the alarm says that it does not breach."""
        state = self.regions[region]
        now = self.clock()
        for alarm in state.alarms.values():
            dims = {d["Name"]: d["Value"] for d in alarm["Dimensions"]}
            key = (alarm["Namespace"], alarm["MetricName"], tuple(sorted(dims.items())))
            # Where the last period has nothing, CloudWatch looks one further back.
            recent = next(
                filter(None, (
                    [value for at, value in state.metrics.get(key, {}).items()
                     if ends - alarm["Period"] < at <= ends]
                    for ends in (now, now - alarm["Period"])
                )), [],
            )  # fmt: skip
            missing = alarm.get("TreatMissingData")
            if not recent and missing == "notBreaching":
                recent = [0.0]
            if alarm["ComparisonOperator"] == "LessThanThreshold":
                # Of a heartbeat: in alarm where all of its periods have too few.
                points = state.metrics.get(key, {})
                length = alarm["Period"] * alarm["EvaluationPeriods"]
                is_beating = any(now - length < at <= now for at in points)
                value = "OK" if is_beating else "ALARM"
            elif not recent:
                continue
            else:
                value = "ALARM" if max(recent) >= alarm["Threshold"] else "OK"
            if value != alarm["StateValue"]:
                alarm["StateValue"] = value
                alarm["StateTransitionedTimestamp"] = datetime.fromtimestamp(now, tz=UTC)
                actions = alarm["AlarmActions"] if value == "ALARM" else alarm["OKActions"]
                is_muted = any(alarm["AlarmName"] in names for names in self.mutes.values())
                for topic in actions if alarm.get("ActionsEnabled", True) and not is_muted else ():
                    self.notify(topic, alarm["AlarmName"], value, alarm.get("AlarmDescription", ""))
            alarm["StateUpdatedTimestamp"] = datetime.fromtimestamp(now, tz=UTC)

    def _page(
        self, found: Iterable[Any], params: dict[str, Any], *, least: int, most: int
    ) -> tuple[list[Any], str | None]:
        size = params.get("MaxResults", most)
        if not least <= size <= most:
            raise WireError(
                "InvalidParameterValue", f"MaxResults {size}: expecting {least} to {most}"
            )
        token = params.get("NextToken")
        if token is None:
            items, start = list(found), 0
        else:
            if token not in self._tokens:
                raise WireError("InvalidNextToken", f"the token {token} is not valid")
            items, start = self._tokens.pop(token)
        end = start + min(size, self.page_size)
        if end >= len(items):
            return items[start:], None
        fresh = f"token-{next(self._ids)}"
        self._tokens[fresh] = (items, end)
        return items[start:end], fresh


@dataclass(frozen=True)
class _Metrics:
    """A region's metrics, for expressions."""

    aws: FakeAws
    region: Region

    def metrics(self, namespace: str | None) -> list[Metric]:
        return [
            Metric(namespace=key[0], name=key[1], dimensions=key[2])
            for key in self.region.metrics
            if namespace in {None, key[0]}
        ]

    def read(
        self, metric: Metric, statistic: str, *, start_s: int, end_s: int, period_s: int
    ) -> dict[int, float]:
        key = (metric.namespace, metric.name, metric.dimensions)
        found = self.aws.statistic(key, self.region, statistic, start_s, end_s, period_s)
        return {int(at): value for at, value in sorted(found.items())}


def _filtered(
    there: dict[str, dict[str, Any]], params: dict[str, Any], id_filter: str, *, wild: bool = True
) -> Iterable[dict[str, Any]]:
    """Of what is there, what the ids and all other filters let through."""
    others = [one for one in params.get("Filters", ()) if one["Name"] != id_filter]
    names = ids_that_match(there, params, id_filter, wild=wild)
    return (there[name] for name in names if matches(there[name], others))


def _is_hidden(item: dict[str, Any]) -> bool:
    return bool(item.get("Operator", {}).get("HiddenByDefault"))


def _seconds(value: Any) -> float:
    return float(value.timestamp()) if isinstance(value, datetime) else float(value)
