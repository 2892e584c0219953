output "page_topic_arn" {
  description = "The topic of alarms that page"
  value       = one([for name, value in aws_cloudformation_stack.burstwatch.outputs : value if startswith(name, "BurstWatchPageTopicArn")])
}

output "notice_topic_arn" {
  description = "The topic of warnings and of the health of burstwatch"
  value       = one([for name, value in aws_cloudformation_stack.burstwatch.outputs : value if startswith(name, "BurstWatchNoticeTopicArn")])
}

output "events_topic_arn" {
  description = "The topic of readable messages, for chat and e-mail"
  value       = one([for name, value in aws_cloudformation_stack.burstwatch.outputs : value if startswith(name, "BurstWatchEventsTopicArn")])
}
