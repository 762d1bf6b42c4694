# Needs Go, make and git; every other program is built at a pinned version by
# hack/build-tool.sh when a target first needs it, and cached for the whole machine.

SHELL = /usr/bin/env bash -o pipefail
.SHELLFLAGS = -ec
.DEFAULT_GOAL := help

# Where everything that is built or reported goes.
DIST := dist
# The version of the next release: of the bundle, the catalog and the chart.
RELEASE := 1.7.0
# When that version of the bundle was made. Fixed, so that a second run changes nothing.
RELEASE_DATE := 2026-11-30T00:00:00Z
# The image that the bundle installs; the release workflow gives one by digest.
RELEASE_IMG ?= ghcr.io/k8s-aibom/k8s-aibom:v$(RELEASE)
# The bundle's own image.
BUNDLE_IMG ?= ghcr.io/k8s-aibom/k8s-aibom-bundle:v$(RELEASE)
# Where make bundle writes; the checkout itself has the one that ships.
BUNDLE_DIR ?= .
# Stamped into the programs; the manager writes it into every document.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The image that docker-build makes and deploy runs.
IMG ?= controller:latest
# The client for the cluster of the current context.
KUBECTL ?= kubectl
CONTAINER_TOOL ?= docker
# What docker-buildx builds for.
PLATFORMS ?= linux/amd64,linux/arm64,linux/ppc64le,linux/s390x
# What the test and bench targets look at, and further flags for go test.
PKGS ?= ./...
TEST_FLAGS ?=
# How many packages are tested at once: the cores, at most 4, as each control plane needs one.
TEST_PARALLEL ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 4 ? n : 4)))
# The race detector needs a C compiler; set RACE= to go without.
RACE ?= $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# How long each fuzz target runs.
FUZZTIME ?= 10s
# DEMO_ONCE=1 ends the demo after its checks.
DEMO_ONCE ?=
# Where install-plugin puts the plugin; kubectl finds it when the folder is in PATH.
PLUGIN_DIR ?= $(shell gobin=$$(go env GOBIN); echo "$${gobin:-$$(go env GOPATH)/bin}")
# The labelled manifests that make corpus scores, and an earlier result to compare with.
CORPUS ?= $(CURDIR)/../shared/upstream/workloads
COMPARE ?=
FAST ?=
# The CRDs of other projects; default: shared/upstream/crds beside the repository, or else config/crd/external.
CRDS ?=
# A path as the caller means it, who may be in another folder than make.
found = $(firstword $(wildcard $(PWD)/$(1)) $(1))
# Arguments for the manager that make run starts.
ARGS ?= --leader-elect=false

LDFLAGS = -s -w -X main.version=$(VERSION)
GO_DIRS = api cmd hack internal test

# Each is built when a recipe asks for it, never when this file is read.
CONTROLLER_GEN = hack/build-tool.sh tools sigs.k8s.io/controller-tools/cmd/controller-gen
SDK_VERSION = $(shell sed -n 's#.*operator-framework/operator-sdk \(v.*\)#\1#p' hack/operator-sdk/go.mod)
SDK_TAGS = -tags containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper \
	-ldflags "-s -w -X github.com/operator-framework/operator-sdk/internal/version.Version=$(SDK_VERSION)"
OPERATOR_SDK = hack/build-tool.sh operator-sdk github.com/operator-framework/operator-sdk/cmd/operator-sdk operator-sdk $(SDK_TAGS)
SCORECARD_TEST = hack/build-tool.sh operator-sdk github.com/operator-framework/operator-sdk/images/scorecard-test scorecard-test $(SDK_TAGS)
KUBECONFORM = hack/build-tool.sh kubeconform github.com/yannh/kubeconform/cmd/kubeconform kubeconform -ldflags "-s -w"
GOLANGCI_LINT = hack/build-tool.sh golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*## "; print "Usage: make \033[36m<target>\033[0m [VARIABLE=value]"} \
		/^[a-zA-Z0-9_-]+:.*## / {printf "  \033[36m%-18s\033[0m %s\n", $$1, $$2} \
		/^##@ / {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)}' Makefile

.PHONY: demo
demo: build ## Show the inventory of config/samples/demo on a local control plane. DEMO_ONCE=1 ends after the checks.
	@assets="$$(hack/controlplane.sh)" && \
		KUBEBUILDER_ASSETS="$$assets" MANAGER_BINARY="$(CURDIR)/$(DIST)/bin/manager" go run ./test/demo $(if $(filter 1,$(DEMO_ONCE)),--once)

##@ Development

.PHONY: generate
generate: ## Write the deep-copy functions of the API types.
	@tool="$$($(CONTROLLER_GEN))" && "$$tool" object:headerFile=hack/boilerplate.go.txt paths=./api/...

.PHONY: manifests
manifests: ## Write the CRDs and the manager's ClusterRole from the markers in the code.
	@tool="$$($(CONTROLLER_GEN))" && \
		"$$tool" crd paths=./api/... output:crd:dir=config/crd/bases && \
		"$$tool" rbac:roleName=manager-role,headerFile=hack/rbac-header.yaml paths=./internal/... output:rbac:dir=config/rbac

.PHONY: bundle
bundle: manifests ## Write the OLM bundle from config/manifests.
	@sdk="$$($(OPERATOR_SDK))" && assets="$$(hack/controlplane.sh)" && \
		hack/bundle.sh "$$sdk" "$$assets/kubectl" "$(BUNDLE_DIR)" "$(RELEASE)" "$(RELEASE_IMG)" "$(RELEASE_DATE)"

.PHONY: chart
chart: manifests ## Write the parts of the Helm chart that follow from config.
	@hack/chart.sh

.PHONY: fmt
fmt: ## Format the Go code.
	@gofmt -s -w $(GO_DIRS)

.PHONY: vet
vet: ## Run go vet.
	@go vet ./...

##@ Checks

.PHONY: lint
lint: verify-generated verify-fmt vet ## Check generated files and format, then run go vet and golangci-lint.
	@tool="$$($(GOLANGCI_LINT))" && "$$tool" run

.PHONY: verify-fmt
verify-fmt: ## Fail when a Go file is not formatted.
	@files="$$(gofmt -s -l $(GO_DIRS))" && \
		if [ -n "$$files" ]; then printf 'not formatted (run make fmt):\n%s\n' "$$files"; exit 1; fi

.PHONY: verify-generated
verify-generated: ## Fail when a generated file is out of date. Changes nothing.
	@tool="$$($(CONTROLLER_GEN))" && hack/verify-generated.sh "$$tool"

.PHONY: verify-bundle
verify-bundle: ## Fail when the OLM bundle is out of date. Changes nothing.
	@fresh="$$(mktemp -d)" && trap 'rm -rf "$$fresh"' EXIT && \
		sdk="$$($(OPERATOR_SDK))" && assets="$$(hack/controlplane.sh)" && \
		hack/bundle.sh "$$sdk" "$$assets/kubectl" "$$fresh" "$(RELEASE)" "$(RELEASE_IMG)" "$(RELEASE_DATE)" && \
		for part in bundle bundle.Dockerfile; do diff -ruN "$$part" "$$fresh/$$part" || { echo "$$part is out of date: run make bundle" >&2; exit 1; }; done

.PHONY: bundle-validate
bundle-validate: verify-bundle ## Hold the OLM bundle to operator-sdk's validators and the scorecard's tests.
	@sdk="$$($(OPERATOR_SDK))" && scorecard="$$($(SCORECARD_TEST))" && hack/bundle-validate.sh "$$sdk" "$$scorecard"

.PHONY: test
test: ## Run every test, on a real control plane. Needs up to 30 minutes on two cores.
	@mkdir -p $(DIST) && rm -f $(DIST)/test-summary.txt
	@assets="$$(hack/controlplane.sh)" && \
		KUBEBUILDER_ASSETS="$$assets" go test -json $(RACE) -count=1 -p $(TEST_PARALLEL) -timeout 25m \
			-covermode=atomic -coverprofile=$(DIST)/coverage.out $(TEST_FLAGS) $(PKGS) 2>&1 \
		| go run ./hack/testsummary -o $(DIST)/test-summary.txt

.PHONY: test-olm
test-olm: build ## Install by OLM, Helm and kustomize, run the manager under each one's RBAC, upgrade and uninstall.
	@assets="$$(hack/controlplane.sh)" && olm="$$(hack/olm.sh)" && kubeconform="$$($(KUBECONFORM))" && \
		KUBEBUILDER_ASSETS="$$assets" OLM_ASSETS="$$olm" KUBECONFORM="$$kubeconform" \
		MANAGER_BINARY="$(CURDIR)/$(DIST)/bin/manager" \
		go test -count=1 -p 1 -timeout 20m $(TEST_FLAGS) ./test/install/... ./test/olm/...

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane.
	@go test -short $(TEST_FLAGS) $(PKGS)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (default 10s).
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## Run the benchmarks.
	@go test -short -run '^$$' -bench . -benchmem $(TEST_FLAGS) $(PKGS)

.PHONY: corpus
corpus: build ## Score what is found in the labelled manifests of CORPUS=folder. COMPARE=file shows what changed; FAST=1 does without a control plane.
	@assets="$$(hack/controlplane.sh)" && \
		KUBEBUILDER_ASSETS="$$assets" MANAGER_BINARY="$(CURDIR)/$(DIST)/bin/manager" \
		go run ./test/corpus/run --corpus "$(call found,$(CORPUS))" $(if $(COMPARE),--compare "$(call found,$(COMPARE))") $(if $(CRDS),--crds "$(call found,$(CRDS))") $(if $(filter 1,$(FAST)),--fast)

##@ Build

.PHONY: build
build: ## Build the manager and the kubectl plugin into dist/bin.
	@CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o $(DIST)/bin/ ./cmd/manager ./cmd/kubectl-aibom

.PHONY: install-plugin
install-plugin: ## Install the kubectl plugin into PLUGIN_DIR (default: where go install puts programs).
	@mkdir -p "$(PLUGIN_DIR)" && CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o "$(PLUGIN_DIR)/kubectl-aibom" ./cmd/kubectl-aibom
	@install -m 0755 hack/kubectl_complete-aibom "$(PLUGIN_DIR)/kubectl_complete-aibom"

.PHONY: docker-build
docker-build: ## Build the manager's image as IMG.
	$(CONTAINER_TOOL) build --build-arg VERSION=$(VERSION) -t $(IMG) .

.PHONY: docker-buildx
docker-buildx: ## Build the manager's image for PLATFORMS and push it as IMG.
	$(CONTAINER_TOOL) buildx build --platform $(PLATFORMS) --build-arg VERSION=$(VERSION) --push -t $(IMG) .

.PHONY: bundle-build
bundle-build: ## Build the OLM bundle's image as BUNDLE_IMG.
	$(CONTAINER_TOOL) build -f bundle.Dockerfile -t $(BUNDLE_IMG) .

.PHONY: catalog
catalog: ## Write a file-based catalog with the bundle BUNDLE_IMG below dist/catalog.
	@olm="$$(hack/olm.sh)" && hack/catalog.sh "$$olm/opm" $(DIST)/catalog "$(RELEASE)" "$(BUNDLE_IMG)"

.PHONY: build-installer
build-installer: ## Write all that a cluster needs, with the image IMG, as dist/install.yaml.
	@mkdir -p $(DIST) && assets="$$(hack/controlplane.sh)" && \
		"$$assets/kubectl" kustomize config/default | sed 's#image: controller:latest#image: $(IMG)#' >$(DIST)/install.yaml

.PHONY: release-version
release-version: ## Print the version of the next release.
	@echo $(RELEASE)

.PHONY: controlplane
controlplane: ## Provide etcd, kube-apiserver, kubectl and kube-controller-manager; print their folder.
	@hack/controlplane.sh

.PHONY: clean
clean: ## Remove what was built here. The machine's cache of tools stays.
	@rm -rf $(DIST)

##@ Cluster of the current context

.PHONY: run
run: ## Run the manager on this machine. ARGS are its arguments.
	@POD_NAMESPACE="$${POD_NAMESPACE:-k8s-aibom-system}" go run -ldflags "$(LDFLAGS)" ./cmd/manager $(ARGS)

.PHONY: install
install: ## Install the CRDs.
	$(KUBECTL) apply --server-side -k config/crd

.PHONY: uninstall
uninstall: ## Remove the CRDs and with them every AIBOM.
	$(KUBECTL) delete --ignore-not-found -k config/crd

.PHONY: deploy
deploy: ## Install the CRDs and the manager with the image IMG.
	$(KUBECTL) kustomize config/default | sed 's#image: controller:latest#image: $(IMG)#' | $(KUBECTL) apply --server-side -f -

.PHONY: undeploy
undeploy: ## Remove the manager, the CRDs and with them every AIBOM.
	$(KUBECTL) delete --ignore-not-found -k config/default
