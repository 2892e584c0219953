# burstwatch by Terraform: the template of a release, with its package in a bucket of the region.
variable "bucket" {
  description = "A bucket in the region to deploy to"
  type        = string
}

variable "release" {
  description = "The folder with burstwatch-template.json and burstwatch-lambda.zip"
  type        = string
  default     = "dist"
}

locals {
  package = "${var.release}/burstwatch-lambda.zip"
}

resource "aws_s3_object" "package" {
  bucket = var.bucket
  # Another package has another key, which is how CloudFormation sees the change.
  key    = "burstwatch-lambda-${filesha256(local.package)}.zip"
  source = local.package
}

resource "aws_cloudformation_stack" "burstwatch" {
  name          = "Burstwatch"
  capabilities  = ["CAPABILITY_IAM"]
  template_body = file("${var.release}/burstwatch-template.json")
  parameters = {
    CodeBucket = aws_s3_object.package.bucket
    CodeKey    = aws_s3_object.package.key
    AlarmEmail = "oncall@example.org"
    LeadS      = "900"
  }
}

output "topics" {
  value = { for name, value in aws_cloudformation_stack.burstwatch.outputs : name => value if strcontains(name, "TopicArn") }
}
