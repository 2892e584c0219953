# burstwatch by Terraform, from a checkout in which `make dist` has made the release.
provider "aws" {
  region = "eu-central-1"
}

module "burstwatch" {
  source      = "../../../terraform"
  bucket      = "my-bucket"
  release     = "../../../dist"
  alarm_email = "oncall@example.org"
  lead_s      = 900
}

output "page_topic_arn" {
  value = module.burstwatch.page_topic_arn
}
