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

# Runs a step of a target and prints its seconds.
timed = began=$$(date +%s%N); { $(2); } && code=0 || code=$$?; \
	printf '%-14s %6.1f s\n' '$(1)' "$$((($$(date +%s%N) - began) / 100000000))e-1"; exit $$code

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

.PHONY: check
check: setup ## the inner loop: format, lint, types, walls and the fast tests
	@$(call timed,format,$(BIN)/ruff format --check --quiet . || { echo "run 'make fix'"; false; })
	@$(call timed,lint,$(BIN)/ruff check --quiet .)
	@$(call timed,types,$(BIN)/mypy --no-error-summary)
	@$(call timed,walls,$(BIN)/lint-imports --no-logo >.cache/walls.txt || { cat .cache/walls.txt; false; })
	@$(call timed,TypeScript,npm run --silent check)
	@$(call timed,fast tests,$(BIN)/pytest -q -n 3 --dist worksteal -m "not local_cloud and not other_clouds and not fakecloud and not real and not slow")

.PHONY: fix
fix: setup ## format, and fix what can be fixed
	@$(BIN)/ruff check --quiet --fix . || true
	@$(BIN)/ruff format --quiet .

.PHONY: gen
gen: setup ## write the generated files anew: catalog, dashboards, example, requirements, README, golden messages
	@$(BIN)/burstwatch catalog --json > cdk/catalog.json
	@$(BIN)/burstwatch catalog --member-role > cdk/member-role.json
	@$(BIN)/burstwatch catalog --member-stack-set > cdk/member-stack-set.json
	@$(UV) export --quiet --frozen --extra lambda --no-dev --no-emit-project --no-header > lambdas/requirements.txt
	@$(UV) export --quiet --frozen --extra exporter --extra aws --no-dev --no-emit-project --no-header > exporter/requirements.txt
	@$(BIN)/python -m monitoring.dashboards
	@$(BIN)/python -m tools.make_example
	@$(BIN)/python -m tests.goldens
	@$(BIN)/python -m tests.aws.doctored
	@$(BIN)/python -m tools.reference

.PHONY: test
test: setup .cache/localcloud.stamp .cache/grafana/look.js ## everything, in about eighteen minutes
	@# The clouds wait for the clock most of the time, so the rest runs beside them. If the inner loop fails, they are stopped.
	@set -m; $(MAKE) --keep-going test-cloud other-clouds >.cache/test-cloud.log 2>&1 & cloud=$$!; set +m; failed=0; \
	trap 'kill -INT -- -$$cloud; exit 130' INT TERM; \
	$(MAKE) check || { kill -INT -- -$$cloud; exit 1; }; \
	$(MAKE) -j 3 --output-sync=target test-cdk test-wheel test-chart || failed=1; \
	$(MAKE) test-real || failed=1; \
	wait $$cloud || failed=1; cat .cache/test-cloud.log; exit $$failed

.PHONY: test-cdk
test-cdk: setup ## the template: synth with cdk-nag, cfn-lint, and what it promises
	@$(call timed,CDK app,npm run --silent test)
	@$(call timed,synth,PYTHON=$(PYTHON) npx cdk synth --quiet --no-notices --output .cache/cdk.out)
	@# W3005: CDK's own dependency of a custom resource's function on its role
	@$(BIN)/cfn-lint --ignore-checks W3005 -- .cache/cdk.out/*.template.json cdk/member-role.json cdk/member-stack-set.json

.PHONY: test-wheel
test-wheel: setup ## the built wheel, without extras, in an environment of its own
	@rm -rf .cache/wheel && mkdir -p .cache/wheel
	@$(UV) build --quiet --wheel --out-dir .cache/wheel
	@$(UV) export --quiet --frozen --only-group dev --no-hashes --no-header > .cache/wheel/constraints.txt
	@$(UV) venv --quiet --python $(PYTHON) .cache/wheel/venv
	@$(UV) pip install --quiet --python .cache/wheel/venv/bin/python -c .cache/wheel/constraints.txt .cache/wheel/*.whl pytest hypothesis
	@mkdir -p .cache/wheel/docs && cp -r tests .cache/wheel/ && cp -r docs/published .cache/wheel/docs/
	@cd .cache/wheel && PYTHONSAFEPATH=1 PYTHONPATH=. venv/bin/python -m pytest -q -c /dev/null -o markers=slow --rootdir . --noconftest -p no:cacheprovider --hypothesis-profile=ci tests/unit
	@# without its extra it says which one
	@{ .cache/wheel/venv/bin/burstwatch-exporter --help 2>&1 || true; } | grep -q "pip install 'burstwatch\[exporter\] @ file:"
	@# as pipx installs it
	@$(UV) pip install --quiet --python .cache/wheel/venv/bin/python -c .cache/wheel/constraints.txt "$$(ls .cache/wheel/*.whl)[exporter]"
	@.cache/wheel/venv/bin/burstwatch-exporter --once --sample.period=0.2 | grep -q burstwatch_exporter_build_info
	@.cache/wheel/venv/bin/burstwatch-exporter measure --plan --profile=fio-4k-qd4 --type=gp2 --size-gib=100 | grep -q mix70
	@.cache/wheel/venv/bin/burstwatch-nvme-helper --help >/dev/null

HELM_VERSION := v3.22.0
.PHONY: test-chart
test-chart: setup .cache/go/helm ## the chart, rendered by helm; without helm or go it says that it is left out
	@$(BIN)/pytest -q tests/exporter/test_install.py

.cache/go/helm:
	@mkdir -p .cache/go
	@if command -v helm >/dev/null; then ln -sf "$$(command -v helm)" $@; \
	elif command -v go >/dev/null; then echo "building helm $(HELM_VERSION)"; \
	  GOBIN=$(CURDIR)/.cache/go GOFLAGS=-mod=mod go install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION) 2>.cache/go/log || { tail -5 .cache/go/log; exit 1; }; fi

LOOK := monitoring/look/grafana
$(LOOK)/node_modules/.package-lock.json: $(LOOK)/package-lock.json
	@echo "installing Grafana's components, for pictures of the dashboards"
	@npm ci --prefix $(LOOK) --silent --no-audit --no-fund --ignore-scripts

.cache/grafana/look.js: $(LOOK)/node_modules/.package-lock.json $(LOOK)/tsconfig.json $(wildcard $(LOOK)/*.ts $(LOOK)/*.tsx $(LOOK)/*.mjs) | .cache/node.stamp
	@node_modules/.bin/tsc -p $(LOOK)
	@node $(LOOK)/build.mjs .cache/grafana

JSII := cdk/jsii
$(JSII)/node_modules/.package-lock.json: $(JSII)/package-lock.json
	@echo "installing jsii, which compiles the construct for TypeScript and Python"
	@npm ci --prefix $(JSII) --silent --no-audit --no-fund --ignore-scripts

.PHONY: test-real
test-real: setup .cache/grafana/look.js $(JSII)/node_modules/.package-lock.json ## the exporter with real parts: a disk that the kernel throttles (needs root), fio, Prometheus; and what is slow
	@$(call timed,real and slow,$(BIN)/pytest -q -n 2 --dist loadfile -m "real or slow")

.PHONY: test-bare
test-bare: setup .cache/grafana/look.js ## what differs where Prometheus, Chromium, fio and their like are missing
	@$(BIN)/pytest -q -m "not local_cloud and not other_clouds and not fakecloud and not slow" $$(grep -lr "program(\|find_program" tests --include='test_*.py' | grep -v local_cloud)

.PHONY: test-cloud
test-cloud: setup .cache/localcloud.stamp .cache/grafana/look.js ## the demo and the dead-man switch on the local cloud
	@$(call timed,local cloud,$(BIN)/pytest -q -m local_cloud)

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

.cache/localemu.stamp: $(LOCALCLOUD)/localemu.txt .cache/lambda-runtime.stamp | $(UV)
	@echo "installing localemu"
	@python="$$($(PYTHON) tools/find_python.py)"; [ -n "$$python" ] || { echo "localemu needs Python 3.12 or 3.13, and neither was found"; exit 1; }; \
	$(UV) venv --quiet --clear --python "$$python" .cache/localemu
	@$(UV) pip install --quiet --require-hashes --python .cache/localemu/bin/python -r $(LOCALCLOUD)/localemu.txt
	@touch $@

CLOUD ?= localemu
.PHONY: other-clouds
other-clouds: ## the template, the rights and the calls on an emulator that others wrote (Python 3.12 or 3.13); CLOUD=fakecloud FAKECLOUD=PATH is another, UPDATE=1 writes the table of the docs
	@if [ $(CLOUD) = fakecloud ]; then $(MAKE) setup && $(BIN)/pytest -q -m fakecloud; \
	elif [ -n "$$($(PYTHON) tools/find_python.py)" ]; then $(MAKE) -j 4 setup .cache/localemu.stamp && $(BIN)/pytest -q -m other_clouds; \
	elif [ -n "$$REQUIRE_PROGRAMS" ]; then echo "localemu needs Python 3.12 or 3.13, and neither was found"; exit 1; \
	else echo "left out: localemu needs Python 3.12 or 3.13, and neither was found"; fi

.PHONY: demo
demo: setup .cache/localcloud.stamp ## the whole chain on this machine, in about four minutes
	@# What draws the dashboards is built meanwhile.
	@$(MAKE) .cache/grafana/look.js >.cache/grafana.log 2>&1 & look=$$!; code=0; \
	PYTHONUNBUFFERED=1 $(BIN)/python -m demo $(ARGS) || code=$$?; \
	wait $$look || { cat .cache/grafana.log; code=1; }; exit $$code

.PHONY: demo-full
demo-full: setup .cache/localcloud.stamp .cache/grafana/look.js ## the same with a host and volumes that recover, in about ten minutes
	@PYTHONUNBUFFERED=1 $(BIN)/python -m demo --full $(ARGS)

.PHONY: screenshots
screenshots: demo-full ## the demo's pages and dashboards as pictures for the docs (needs prometheus and chromium)
	@$(BIN)/python -m tools.looks demo/out
	@$(BIN)/python -m tools.top_picture

.PHONY: backtest
backtest: setup ## every policy on the recordings, in about an hour (SETS="servers-fresh nab", VM=DIR for those that are not here)
	@$(BIN)/python -m benchmarks.held_out $(SETS) $(if $(VM),--vm $(VM))

.PHONY: docs
docs: setup ## the documentation as a site in site/, with search; it works from the folder
	@$(BIN)/python -m tools.site
	@UV_PROJECT_ENVIRONMENT=.cache/docs $(UV) sync --quiet --frozen --only-group docs --python $(PYTHON)
	@NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true .cache/docs/bin/mkdocs build --quiet --strict --config-file .cache/site/mkdocs.yml

.PHONY: dist
dist: setup $(JSII)/node_modules/.package-lock.json ## everything that a release has, into dist/; the same commit gives the same bytes
	@$(BIN)/python -m tools.dist

.PHONY: bench
bench: setup ## how often the range holds, the bill of a month, the day beside YACE and cloudwatch_exporter, the function's start
	@$(BIN)/python -m benchmarks.calibration
	@$(BIN)/python -m benchmarks.month
	@$(BIN)/python -m benchmarks.day
	@$(BIN)/python -m benchmarks.cold_start
	@$(BIN)/python -m benchmarks.tables

.PHONY: fit
fit: setup ## fit the hazard anew, with numpy and scipy in an environment of their own (VM=DIR, or ARGS=--without-vm)
	@UV_PROJECT_ENVIRONMENT=.cache/fit $(UV) sync --quiet --frozen --group fit --python $(PYTHON)
	@.cache/fit/bin/python -m benchmarks.fit $(if $(VM),--vm $(VM)) $(ARGS)
