# Written by `make gen`: the parameters of the template.
locals {
  settings = {
    AlarmEmail        = var.alarm_email
    Deployment        = var.deployment
    Architecture      = var.architecture
    LeadS             = var.lead_s
    MaxDataAgeS       = var.max_data_age_s
    AlarmPathS        = var.alarm_path_s
    HoldS             = var.hold_s
    PageOn            = var.page_on
    BudgetUsdPerMonth = var.budget_usd_per_month
    MassFrom          = var.mass_from
    Kinds             = var.kinds
    TagFilter         = var.tag_filter
    Maintenance       = var.maintenance
    DashboardUrl      = var.dashboard_url
    Chat              = var.chat
    RunbooksUrl       = var.runbooks_url
  }
}

variable "alarm_email" {
  description = "An inbox for the topics page and notice. SNS asks it to confirm each"
  type        = string
  default     = ""
}

variable "deployment" {
  description = "Tells deployments in one account apart"
  type        = string
  default     = "burstwatch"

  validation {
    condition     = can(regex("^(?:[A-Za-z0-9-]{1,32})$", var.deployment))
    error_message = "deployment: allowed is [A-Za-z0-9-]{1,32}."
  }
}

variable "architecture" {
  description = "The functions' processor. The package is pure Python and runs on either"
  type        = string
  default     = "arm64"

  validation {
    condition     = contains(["arm64", "x86_64"], var.architecture)
    error_message = "architecture: allowed is arm64 or x86_64."
  }
}

variable "lead_s" {
  description = "the least time between the page and the empty bucket"
  type        = number
  default     = 900

  validation {
    condition     = var.lead_s >= 60 && var.lead_s <= 86400
    error_message = "lead_s: allowed is 60 to 86400."
  }
}

variable "max_data_age_s" {
  description = "how old the newest datapoint may be, in addition to its period; older data is not used"
  type        = number
  default     = 300

  validation {
    condition     = var.max_data_age_s >= 0 && var.max_data_age_s <= 3600
    error_message = "max_data_age_s: allowed is 0 to 3600."
  }
}

variable "alarm_path_s" {
  description = "how long a page takes after a sweep's verdict, through metric, alarm and topic"
  type        = number
  default     = 180

  validation {
    condition     = var.alarm_path_s >= 0 && var.alarm_path_s <= 3600
    error_message = "alarm_path_s: allowed is 0 to 3600."
  }
}

variable "hold_s" {
  description = "how long a resource must be fine before its alarm ends"
  type        = number
  default     = 4500

  validation {
    condition     = var.hold_s >= 60 && var.hold_s <= 5400
    error_message = "hold_s: allowed is 60 to 5400."
  }
}

variable "page_on" {
  description = "how likely a run-out within two hours must be for a page, where full burst could empty the bucket within the margin (lead_s + sweep_period_s + alarm_path_s): early (fewer run-outs without a page), balanced, or sure (fewer false pages); worst: page whenever it could"
  type        = string
  default     = "balanced"

  validation {
    condition     = can(regex("^(?:early|balanced|sure|worst)$", var.page_on))
    error_message = "page_on: allowed is early, balanced, sure or worst."
  }
}

variable "budget_usd_per_month" {
  description = "the monthly limit in USD for one unit's metric requests; burstwatch does not look at resources that it cannot pay for (verdict unknown); empty means no limit"
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^(?:(\\d{1,6}(\\.\\d{1,2})?)?)$", var.budget_usd_per_month))
    error_message = "budget_usd_per_month: allowed is an amount in USD above 0 such as 25 or 7.50, or nothing."
  }
}

variable "mass_from" {
  description = "from this many resources that come into danger within ten minutes, one alarm covers them all; what comes into danger later has its own"
  type        = number
  default     = 20

  validation {
    condition     = var.mass_from >= 2 && var.mass_from <= 50
    error_message = "mass_from: allowed is 2 to 50."
  }
}

variable "kinds" {
  description = "resource types to watch, such as ebs_volume,ec2_instance_ebs; empty watches all"
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^(?:([a-z0-9_]+(,[a-z0-9_]+)*)?)$", var.kinds))
    error_message = "kinds: allowed is names of resource types with commas between, or nothing."
  }
}

variable "tag_filter" {
  description = "watch only resources with this tag, as key=value; empty watches all"
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^(?:([^=]+=.*)?)$", var.tag_filter))
    error_message = "tag_filter: allowed is key=value, or nothing."
  }
}

variable "maintenance" {
  description = "hours in UTC in which no new alarm is made, as Sun 02:00-04:00 / Mon-Fri 22:00-01:30"
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^(?:((?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[+-](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))* )?(?:[01]\\d|2[0-3]):[0-5]\\d-(?:[01]\\d|2[0-3]):[0-5]\\d(?: / (?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:[+-](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))* )?(?:[01]\\d|2[0-3]):[0-5]\\d-(?:[01]\\d|2[0-3]):[0-5]\\d)*)?)$", var.maintenance))
    error_message = "maintenance: allowed is hours in UTC such as 02:00-04:00, Mon-Fri 22:00-01:30 or Sat+Sun 00:00-06:00; several are separated by ' / ', or nothing."
  }
}

variable "dashboard_url" {
  description = "link to a dashboard in every message, such as https://grafana.example.org/d/{board}&from={from_ms}&to={to_ms}; {board} is the one of burstwatch's dashboards that shows the resource, with its variables, and {resource_id} is for your own; the default is the dashboard of the stack, if it has one"
  type        = string
  default     = ""

  validation {
    condition     = can(regex("^(?:(https://[^\\s<>|]+)?)$", var.dashboard_url))
    error_message = "dashboard_url: allowed is an address that begins with https://, or nothing."
  }
}

variable "chat" {
  description = "how the chat client writes a link that has a name: slack, or teams for Microsoft Teams"
  type        = string
  default     = "slack"

  validation {
    condition     = can(regex("^(?:slack|teams)$", var.chat))
    error_message = "chat: allowed is slack or teams."
  }
}

variable "runbooks_url" {
  description = "the folder of the runbooks, in every message"
  type        = string
  default     = "https://github.com/burstwatch/burstwatch/blob/main/monitoring/runbooks"

  validation {
    condition     = can(regex("^(?:https://[^\\s<>|]+)$", var.runbooks_url))
    error_message = "runbooks_url: allowed is an address that begins with https://."
  }
}
