# The manager's image. Build with `make docker-build IMG=registry/name:tag`; VERSION is
# stamped into the program. Compilation happens on the builder's own platform, so that an
# image for another architecture needs no emulation.
FROM --platform=$BUILDPLATFORM docker.io/library/golang:1.26.8 AS build
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
WORKDIR /src

# Modules first: this layer stays as it is until a dependency changes.
COPY go.mod go.sum ./
RUN go mod download

COPY api/ api/
COPY cmd/ cmd/
COPY internal/ internal/
# Nothing of the machine or the moment enters the program: equal sources give equal bytes.
RUN CGO_ENABLED=0 GOOS=${TARGETOS:-linux} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=${VERSION}" -o /manager ./cmd/manager

# No shell, no package manager, certificates only.
FROM gcr.io/distroless/static:nonroot
ARG VERSION=dev
LABEL org.opencontainers.image.title="k8s-aibom" \
      org.opencontainers.image.description="Keeps a CycloneDX ML-BOM for every AI workload in a cluster" \
      org.opencontainers.image.source="https://github.com/k8s-aibom/k8s-aibom" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=build /manager /manager
COPY LICENSE /licenses/LICENSE
USER 65532:65532
ENTRYPOINT ["/manager"]
