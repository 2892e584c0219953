# The package of the functions in your bucket, and the stack of the release's template.
terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "bucket" {
  description = "A bucket in the region of the stack"
  type        = string
}

variable "release" {
  description = "The folder with burstwatch-template.json and burstwatch-lambda.zip of a release"
  type        = string
}

variable "stack_name" {
  description = "The name of the stack"
  type        = string
  default     = "Burstwatch"

  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9-]{0,127}$", var.stack_name))
    error_message = "stack_name: allowed is a letter, then letters, digits and hyphens."
  }
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
  name          = var.stack_name
  capabilities  = ["CAPABILITY_IAM"]
  template_body = file("${var.release}/burstwatch-template.json")
  parameters = merge(local.settings, {
    CodeBucket = aws_s3_object.package.bucket
    CodeKey    = aws_s3_object.package.key
  })
}
