# Everything installs into this folder: .venv, node_modules and .cache.
# `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
UV_VERSION := 0.13.8
UV := .cache/uv/bin/uv
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never
# Compiled once for all runs, and outside of the tree.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/.cache/pycache

# Runs a step of a target and prints its seconds. What a step that failed printed is printed once more at the end.
timed = set +e; began=$$(date +%s%N); log=".cache/steps/$(1)"; mkdir -p .cache/steps; \
	{ $(2); } 2>&1 | tee "$$log"; code=$${PIPESTATUS[0]}; \
	printf '%-14s %6.1f s\n' '$(1)' "$$((($$(date +%s%N) - began) / 100000000))e-1"; \
	[ $$code != 0 ] || rm "$$log"; exit $$code
failed = echo; for log in .cache/steps/*; do [ -e "$$log" ] || continue; echo "failed: $$(basename "$$log")"; cat "$$log"; done

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: setup
setup: .cache/python.stamp .cache/node.stamp ## install everything, pinned by the lockfiles

$(UV):
	@echo "installing uv $(UV_VERSION)"
	@$(PYTHON) -m venv .cache/uv
	@.cache/uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.cache/python.stamp: pyproject.toml uv.lock | $(UV)
	@echo "installing the Python packages of uv.lock"
	@$(UV) sync --quiet --frozen --all-extras --python $(PYTHON)
	@touch $@

.cache/node.stamp: package.json package-lock.json
	@echo "installing the Node packages of package-lock.json"
	@mkdir -p .cache
	@npm ci --silent --no-audit --no-fund
	@touch $@

#: All but tests that wait for a clock, an emulator or a program that the machine may not have, and the same with many seeds.
QUICK := not clouds and not real and not many

.PHONY: check
check: setup ## the inner loop: format, lint, types, walls and the fast tests
	@$(MAKE) -j 2 --output-sync=target check-code check-tests

.PHONY: check-code
check-code: setup
	@$(call timed,format,$(BIN)/ruff format --check --quiet . || { echo "run 'make fix'"; false; })
	@$(call timed,lint,$(BIN)/ruff check --quiet .)
	@$(call timed,types,$(BIN)/mypy --no-error-summary)
	@$(call timed,walls,$(BIN)/lint-imports --no-logo >.cache/walls.txt || { cat .cache/walls.txt; false; })
	@$(call timed,TypeScript,npm run --silent check)

.PHONY: check-tests
check-tests: setup
	@$(call timed,fast tests,$(BIN)/pytest -q -n 2 --dist worksteal -m "$(QUICK) and not slow")

.PHONY: fix
fix: setup ## format, and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format --quiet .
	@npm run --silent fix >/dev/null || true

.PHONY: gen
gen: setup ## write the generated files anew: catalog, dashboards, example, requirements, README, golden messages
	@$(BIN)/burstwatch catalog --json > cdk/catalog.json
	@$(BIN)/burstwatch catalog --member-role > cdk/member-role.json
	@$(BIN)/burstwatch catalog --member-stack-set > cdk/member-stack-set.json
	@$(UV) export --quiet --frozen --extra lambda --prune pyyaml --prune rich --prune textual --no-dev --no-emit-project --no-header > lambdas/requirements.txt
	@$(UV) export --quiet --frozen --extra exporter --prune rich --prune textual --no-dev --no-emit-project --no-header > exporter/requirements.txt
	@$(BIN)/python -m monitoring.dashboards
	@$(BIN)/python -m tools.terraform
	@$(BIN)/python -m tools.make_example
	@$(BIN)/python -m tools.hero
	@$(BIN)/python -m tests.goldens
	@$(BIN)/python -m tests.aws.doctored
	@$(BIN)/python -m tools.reference

.PHONY: test
test: setup ## all that needs no clock, emulator or further program, in about seven minutes
	@rm -rf .cache/steps
	@$(MAKE) -j 2 --keep-going --output-sync=target check-code test-python test-cdk test-wheel || { $(failed); exit 1; }

.PHONY: test-python
test-python: setup
	@$(call timed,tests,$(BIN)/pytest -q -n 3 --dist worksteal -m "$(QUICK)")

.PHONY: test-all
test-all: setup ## what make test leaves out: many seeds, emulators of AWS, fio, a throttled disk, Prometheus, Chromium, packages
	@rm -rf .cache/steps
	@$(MAKE) --keep-going test-many test-real test-package test-cloud || { $(failed); exit 1; }

.PHONY: test-many
test-many: setup ## properties with many examples, and what is played with many seeds or loads
	@$(call timed,many,$(BIN)/pytest -q -n 2 --dist worksteal --hypothesis-profile=many -m "(many or hypothesis) and not clouds and not real")

.PHONY: test-cdk
test-cdk: setup ## the template: synth with cdk-nag, cfn-lint, and what it promises
	@$(call timed,CDK app,npm run --silent test)
	@$(call timed,synth,PYTHON=$(PYTHON) npx cdk synth --quiet --no-notices --output .cache/cdk.out)
	@# W3005: CDK's own dependency of a custom resource's function on its role
	@$(call timed,cfn-lint,$(BIN)/cfn-lint --ignore-checks W3005 -- .cache/cdk.out/*.template.json cdk/member-role.json cdk/member-stack-set.json)

.PHONY: test-wheel
test-wheel: setup ## the built wheel, without its extra and with it, in an environment of its own
	@$(call timed,wheel,$(wheel))

define wheel
rm -rf .cache/wheel && mkdir -p .cache/wheel && \
$(UV) build --quiet --wheel --out-dir .cache/wheel && \
$(UV) export --quiet --frozen --only-group dev --no-hashes --no-header > .cache/wheel/constraints.txt && \
$(UV) venv --quiet --python $(PYTHON) .cache/wheel/venv && \
$(UV) pip install --quiet --python .cache/wheel/venv/bin/python .cache/wheel/*.whl && \
.cache/wheel/venv/bin/burstwatch explain --example | grep -q 'would have paged' && \
.cache/wheel/venv/bin/burstwatch whatif --type gp2 --size-gib 100 --iops 3000 --json | grep -q '"state": "finite"' && \
{ AWS_ACCESS_KEY_ID= AWS_EC2_METADATA_DISABLED=true .cache/wheel/venv/bin/burstwatch scan --region us-east-1 2>&1 || true; } | grep -q "redentials" && \
{ .cache/wheel/venv/bin/burstwatch-exporter --help 2>&1 || true; } | grep -q "pip install 'burstwatch\[exporter\] @ file:" && \
$(UV) pip install --quiet --python .cache/wheel/venv/bin/python -c .cache/wheel/constraints.txt "$$(ls .cache/wheel/*.whl)[exporter]" && \
.cache/wheel/venv/bin/burstwatch-exporter --once --sample.period=0.2 | grep -q burstwatch_exporter_build_info && \
.cache/wheel/venv/bin/burstwatch-exporter measure --plan --profile=fio-4k-qd4 --type=gp2 --size-gib=100 | grep -q mix70 && \
.cache/wheel/venv/bin/burstwatch-nvme-helper --help >/dev/null
endef

HELM_VERSION := v3.22.0
# The chart is rendered by helm; without helm or go its tests say that they are left out.
.cache/go/helm:
	@mkdir -p .cache/go
	@if command -v helm >/dev/null; then ln -sf "$$(command -v helm)" $@; \
	elif command -v go >/dev/null; then echo "building helm $(HELM_VERSION)"; \
	  GOBIN=$(CURDIR)/.cache/go GOFLAGS=-mod=mod go install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION) 2>.cache/go/log || { tail -5 .cache/go/log; exit 1; }; fi

ACTIONLINT_VERSION := v1.7.12
# Without go the test of the workflows says that it is left out.
.cache/go/actionlint:
	@mkdir -p .cache/go
	@if command -v go >/dev/null; then echo "building actionlint $(ACTIONLINT_VERSION)"; \
	  GOBIN=$(CURDIR)/.cache/go GOFLAGS=-mod=mod go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION) 2>.cache/go/log || { tail -5 .cache/go/log; exit 1; }; fi

METADATA_MOCK_VERSION := v1.13.0
# AWS's own mock of the instance metadata service; without go its test says that it is left out.
.cache/go/ec2-metadata-mock:
	@mkdir -p .cache/go
	@if command -v go >/dev/null; then echo "building ec2-metadata-mock $(METADATA_MOCK_VERSION)"; \
	  GOBIN=$(CURDIR)/.cache/go GOFLAGS=-mod=mod go install github.com/aws/amazon-ec2-metadata-mock/cmd/ec2-metadata-mock@$(METADATA_MOCK_VERSION) 2>.cache/go/log || { tail -5 .cache/go/log; exit 1; }; fi

# What draws dashboards for the tests: installed and built outside of the tree.
LOOK := tests/look/grafana
.cache/look/node_modules/.package-lock.json: $(LOOK)/package.json $(LOOK)/package-lock.json
	@echo "installing Grafana's components, for pictures of the dashboards"
	@mkdir -p .cache/look && cp $(LOOK)/package.json $(LOOK)/package-lock.json .cache/look
	@npm ci --prefix .cache/look --silent --no-audit --no-fund --ignore-scripts

.cache/grafana/look.js: .cache/look/node_modules/.package-lock.json $(LOOK)/tsconfig.json $(wildcard $(LOOK)/*.ts $(LOOK)/*.tsx $(LOOK)/*.mjs) | .cache/node.stamp
	@cp $(LOOK)/*.ts $(LOOK)/*.tsx $(LOOK)/*.mjs $(LOOK)/tsconfig.json .cache/look
	@node_modules/.bin/tsc -p .cache/look
	@node .cache/look/build.mjs .cache/grafana

JSII := cdk/jsii
$(JSII)/node_modules/.package-lock.json: $(JSII)/package-lock.json
	@echo "installing jsii, which compiles the construct for TypeScript and Python"
	@npm ci --prefix $(JSII) --silent --no-audit --no-fund

.PHONY: test-real
test-real: setup .cache/grafana/look.js .cache/go/actionlint .cache/go/helm .cache/go/ec2-metadata-mock $(JSII)/node_modules/.package-lock.json ## with real parts: a disk that the kernel throttles (needs root), fio, Prometheus, Chromium, helm
	@$(call timed,real parts,$(BIN)/pytest -q -n 2 --dist loadfile -m "real and not clouds")

.PHONY: test-package
test-package: setup ## the function's package, built as a deployment builds it
	@$(call timed,package,npm run --silent test:package)

.PHONY: test-cloud
test-cloud: setup .cache/localcloud.stamp .cache/localemu.stamp .cache/grafana/look.js ## the demo and the stack on two emulators of AWS; UPDATE=1 writes the table of docs/contributing/permissions.md
	@$(call timed,clouds,$(BIN)/pytest -q -m clouds)

MINUTES ?= 10
.PHONY: mutants
mutants: setup ## plant faults in what decides about pages, and list those that no test finds, in hours (ARGS="burstwatch.bucket*")
	@UV_PROJECT_ENVIRONMENT=.cache/mutants/venv $(UV) sync --quiet --frozen --all-extras --group mutants --python $(PYTHON)
	@mkdir -p .cache/mutants/tree && git ls-files -z | xargs -0 cp --parents --target-directory=.cache/mutants/tree
	@cd .cache/mutants/tree && ../venv/bin/mutmut run $(ARGS) && ../venv/bin/mutmut results

.PHONY: fuzz
fuzz: setup ## every parser with inputs that are guided by the code they reach (MINUTES=10, TARGETS="config nvme")
	@UV_PROJECT_ENVIRONMENT=.cache/fuzz/venv $(UV) sync --quiet --frozen --all-extras --group fuzz --python $(PYTHON)
	@.cache/fuzz/venv/bin/python -m tests.fuzz $(MINUTES) $(TARGETS)

LOCALCLOUD := demo/localcloud
.cache/lambda-runtime.stamp: $(LOCALCLOUD)/runtime.txt | $(UV)
	@$(UV) venv --quiet --clear --python $(PYTHON) .cache/lambda-runtime
	@$(UV) pip install --quiet --require-hashes --python .cache/lambda-runtime/bin/python -r $(LOCALCLOUD)/runtime.txt
	@touch $@

.cache/localcloud.stamp: $(LOCALCLOUD)/localstack.txt .cache/lambda-runtime.stamp | $(UV)
	@echo "installing the local cloud"
	@$(UV) venv --quiet --clear --python $(PYTHON) .cache/localstack
	@$(UV) pip install --quiet --require-hashes --python .cache/localstack/bin/python -r $(LOCALCLOUD)/localstack.txt
	@touch $@

# localemu is left out where no Python runs it.
.cache/localemu.stamp: tests/clouds/localemu.txt .cache/lambda-runtime.stamp | $(UV)
	@python="$$($(PYTHON) tools/find_python.py)"; \
	if [ -n "$$python" ]; then echo "installing localemu"; $(UV) venv --quiet --clear --python "$$python" .cache/localemu && \
	$(UV) pip install --quiet --require-hashes --python .cache/localemu/bin/python -r tests/clouds/localemu.txt && touch $@; \
	else echo "localemu is left out: it needs Python 3.12 or 3.13, and neither was found"; fi

.PHONY: demo
demo: ## the whole chain on this machine, in about four minutes
	@$(MAKE) -j 3 setup .cache/localcloud.stamp
	@# What draws the dashboards is built meanwhile.
	@$(MAKE) .cache/grafana/look.js >.cache/grafana.log 2>&1 & look=$$!; code=0; \
	PYTHONUNBUFFERED=1 $(BIN)/python -m demo --boards tests.look $(ARGS) || code=$$?; \
	wait $$look || { cat .cache/grafana.log; code=1; }; \
	[ ! -d demo/out/dashboards ] || cp .cache/grafana/look.* demo/out/dashboards; exit $$code

.PHONY: demo-full
demo-full: setup .cache/localcloud.stamp .cache/grafana/look.js ## the same with volumes that come close and recover, in about ten minutes
	@PYTHONUNBUFFERED=1 $(BIN)/python -m demo --full --boards tests.look $(ARGS)

.PHONY: screenshots
screenshots: demo-full ## the demo's pages and dashboards as pictures for the docs (needs chromium)
	@$(BIN)/python -m tests.look.browser demo/out
	@$(BIN)/python -m tools.top_picture

.PHONY: backtest
backtest: setup ## every policy on the recordings, in an hour and a half (SETS="servers-fresh nab", VM=DIR for those that are not here)
	@$(BIN)/python -m benchmarks.held_out $(SETS) $(if $(VM),--vm $(VM)) $(ARGS)

.PHONY: docs
docs: setup ## the documentation as a site in site/, with search where it is served; it asks no other host
	@$(BIN)/python -m tools.site
	@UV_PROJECT_ENVIRONMENT=.cache/docs $(UV) sync --quiet --frozen --only-group docs --python $(PYTHON)
	@NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true .cache/docs/bin/mkdocs build --quiet --strict --config-file .cache/site/mkdocs.yml

.PHONY: dist
dist: setup $(JSII)/node_modules/.package-lock.json ## everything that a release has, into dist/; the same commit gives the same bytes
	@$(BIN)/python -m tools.dist

.PHONY: test-release
test-release: setup $(JSII)/node_modules/.package-lock.json .cache/go/actionlint ## everything that a release has, built, tried outside of the repository, and listed
	@$(call timed,release,$(BIN)/pytest -q -m "real or not real" tests/release)
	@$(BIN)/python -m tools.artefacts

# A release is published by the workflow of that name; these are its steps.
VERSION = $(shell $(PYTHON) -c "import burstwatch; print(burstwatch.__version__)")
REGISTRY := ghcr.io/burstwatch
MACHINE = $(shell uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/')

.PHONY: image
image: ## the exporter's container image for this machine's processor (needs docker; PUSH=yes publishes it)
	docker build --file exporter/Dockerfile --build-arg VERSION=$(VERSION) --tag $(REGISTRY)/burstwatch:$(VERSION)-$(MACHINE) .
	docker run --rm $(REGISTRY)/burstwatch:$(VERSION)-$(MACHINE) --help >/dev/null
	$(if $(PUSH),docker push $(REGISTRY)/burstwatch:$(VERSION)-$(MACHINE))

.PHONY: publish
publish: $(UV) ## publish dist/ and the images to PyPI, npm, the registry and GitHub (TAG=v$(VERSION); for the workflow)
	@[ "$(TAG)" = "v$(VERSION)" ] || { echo "TAG is '$(TAG)'; allowed: v$(VERSION)"; exit 2; }
	@cd dist && sha256sum --check --quiet SHA256SUMS
	$(UV) publish --trusted-publishing always dist/*.whl dist/burstwatch-$(VERSION).tar.gz
	npm publish dist/burstwatch-$(VERSION).tgz --provenance --access public
	docker buildx imagetools create --tag $(REGISTRY)/burstwatch:$(VERSION) $(REGISTRY)/burstwatch:$(VERSION)-amd64 $(REGISTRY)/burstwatch:$(VERSION)-arm64
	for chart in burstwatch-exporter burstwatch-fleet; do helm push dist/$$chart-$(VERSION).tgz oci://$(REGISTRY)/charts || exit 1; done
	gh release create $(TAG) dist/* --title "burstwatch $(VERSION)" --notes-file dist/CHANGES-$(VERSION).md

.PHONY: bench
bench: setup ## how often the range holds, the bill of a month, the day beside YACE and cloudwatch_exporter, the function's start, the exporter beside node_exporter
	@$(BIN)/python -m benchmarks.calibration
	@$(BIN)/python -m benchmarks.month
	@$(BIN)/python -m benchmarks.day
	@$(BIN)/python -m benchmarks.cold_start
	@$(BIN)/python -m benchmarks.exporter
	@$(BIN)/python -m benchmarks.tables

.PHONY: fit
fit: setup ## fit the chance anew, with numpy and scipy in an environment of their own (VM=DIR, or ARGS=--without-vm)
	@UV_PROJECT_ENVIRONMENT=.cache/fit $(UV) sync --quiet --frozen --group fit --python $(PYTHON)
	@.cache/fit/bin/python -m benchmarks.fit $(if $(VM),--vm $(VM)) $(ARGS)
