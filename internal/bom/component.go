// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// componentTypes maps the types of findings, but for services, to those of CycloneDX.
var componentTypes = map[evidence.Type]cdx.ComponentType{
	evidence.TypeRuntime:   cdx.ComponentTypeApplication,
	evidence.TypeFramework: cdx.ComponentTypeApplication,
	evidence.TypeContainer: cdx.ComponentTypeContainer,
	evidence.TypeModel:     cdx.ComponentTypeMachineLearningModel,
	evidence.TypeData:      cdx.ComponentTypeData,
	evidence.TypeDevice:    cdx.ComponentTypeDevice,
}

// parts are the findings as a document holds them, in the order of the report.
type parts struct {
	components []cdx.Component
	services   []cdx.Service
}

// partsOf turns the findings of a normalised report into components and services.
func partsOf(r evidence.Report) (parts, error) {
	var p parts
	for _, f := range r.Findings {
		if f.Type == evidence.TypeService {
			p.services = append(p.services, service(f))
			continue
		}
		kind, ok := componentTypes[f.Type]
		if !ok {
			return parts{}, fmt.Errorf("finding %q is of the unknown type %q", f.Name, f.Type)
		}
		p.components = append(p.components, component(kind, f))
	}
	return p, nil
}

func component(kind cdx.ComponentType, f evidence.Finding) cdx.Component {
	c := cdx.Component{
		BOMRef:     refOf(f),
		Type:       kind,
		Name:       f.Name,
		Version:    f.Version,
		PackageURL: purlOf(f),
		Properties: optional(findingProperties(f)),
	}
	if f.Type == evidence.TypeContainer && f.Digest != "" {
		c.Hashes = &[]cdx.Hash{imageHash(f.Digest)}
		// An image without a tag is of the version that its digest names.
		c.Version = cmp.Or(f.Version, f.Digest)
	}
	if f.Type == evidence.TypeData {
		c.Data = &[]cdx.ComponentData{{Type: dataType(f.Role), Name: f.Name}}
	}
	c.Evidence = nativeEvidence(f, c)
	return c
}

// service has no evidence of its own: CycloneDX knows none for services, so the properties
// alone hold it.
func service(f evidence.Finding) cdx.Service {
	s := cdx.Service{
		BOMRef:     refOf(f),
		Name:       f.Name,
		Version:    f.Version,
		Properties: optional(findingProperties(f)),
	}
	if isReference(f.Endpoint) {
		s.Endpoints = &[]string{f.Endpoint}
	}
	return s
}

// nativeEvidence is a component's evidence in CycloneDX's own terms.
func nativeEvidence(f evidence.Finding, c cdx.Component) *cdx.Evidence {
	score := f.Confidence.Score()
	identity := cdx.EvidenceIdentity{Field: cdx.EvidenceIdentityFieldTypeName, Confidence: &score}
	switch {
	case c.Hashes != nil:
		identity.Field = cdx.EvidenceIdentityFieldTypeHash
	case c.PackageURL != "":
		identity.Field = cdx.EvidenceIdentityFieldTypePURL
	}
	var methods []cdx.EvidenceIdentityMethod
	var occurrences []cdx.EvidenceOccurrence
	for _, e := range f.Evidence {
		methods = append(methods, cdx.EvidenceIdentityMethod{
			Technique:  cdx.EvidenceIdentityTechniqueManifestAnalysis,
			Confidence: &score,
			Value:      e.Locator,
		})
		// A location is required, and an empty one would not be written.
		if e.Locator != "" {
			occurrences = append(occurrences, cdx.EvidenceOccurrence{Location: e.Locator})
		}
	}
	identity.Methods = optional(methods)
	return &cdx.Evidence{
		Identity:    &cdx.EvidenceIdentityChoice{Identities: &[]cdx.EvidenceIdentity{identity}},
		Occurrences: optional(occurrences),
	}
}

// findingProperties says in the taxonomy's names what the finding says, and then what else
// is known of it.
func findingProperties(f evidence.Finding) []cdx.Property {
	var list propertyList
	list.add(evidence.PropConfidence, string(f.Confidence))
	for _, e := range f.Evidence {
		list.add(evidence.PropEvidenceSource, string(e.Source))
		list.add(evidence.PropEvidenceLocator, e.Locator)
	}
	list.addNonEmpty(evidence.PropIdentityOrigin, string(f.Origin))
	switch f.Type {
	case evidence.TypeContainer:
		// Container and role are among the properties already, once for each.
		list.addNonEmpty(evidence.PropContainerTag, f.Version)
	default:
		list.addNonEmpty(evidence.PropIdentityRole, string(f.Role))
		list.addNonEmpty(evidence.PropContainerName, f.Container)
	}
	if f.Type == evidence.TypeDevice {
		list.add(evidence.PropDeviceQuantity, strconv.FormatInt(f.Quantity, 10))
	}
	list.addAll(f.Properties)
	return list
}

// workloadComponent is the workload, which the document is about.
func workloadComponent(r evidence.Report) *cdx.Component {
	w, runtime := r.Workload, Summarize(r).Runtime
	var list propertyList
	list.addNonEmpty(evidence.PropWorkloadAPIVersion, w.APIVersion)
	list.addNonEmpty(evidence.PropWorkloadKind, w.Kind)
	list.addNonEmpty(evidence.PropWorkloadNamespace, w.Namespace)
	list.addNonEmpty(evidence.PropWorkloadName, w.Name)
	list.addNonEmpty(evidence.PropWorkloadUID, w.UID)
	list.addNonEmpty(evidence.PropWorkloadCategory, string(r.Category))
	list.addNonEmpty(evidence.PropRuntimeName, runtime.Name)
	list.addNonEmpty(evidence.PropRuntimeVersion, runtime.Version)
	list.addAll(r.Properties)
	for i, owned := range r.Owned {
		list.add(evidence.RollupOwned(i), owned)
	}
	return &cdx.Component{
		BOMRef:     workloadRef(w),
		Type:       cdx.ComponentTypeApplication,
		Name:       w.Name,
		Properties: optional([]cdx.Property(list)),
	}
}

type propertyList []cdx.Property

func (l *propertyList) add(name, value string) {
	*l = append(*l, cdx.Property{Name: name, Value: value})
}

func (l *propertyList) addNonEmpty(name, value string) {
	if value != "" {
		l.add(name, value)
	}
}

func (l *propertyList) addAll(properties []evidence.Property) {
	for _, p := range properties {
		l.add(p.Name, p.Value)
	}
}

// imageHash is a valid digest as CycloneDX writes it.
func imageHash(digest string) cdx.Hash {
	algorithm, value, _ := strings.Cut(digest, ":")
	if algorithm == "sha512" {
		return cdx.Hash{Algorithm: cdx.HashAlgoSHA512, Value: value}
	}
	return cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: value}
}

func dataType(role evidence.Role) cdx.ComponentDataType {
	if role == evidence.RoleDataset {
		return cdx.ComponentDataTypeDataset
	}
	return cdx.ComponentDataTypeOther
}

// isReference says whether an endpoint is the IRI reference (RFC 3987) that the schema asks
// for; what is not cannot stand in a document.
func isReference(endpoint string) bool {
	if endpoint == "" || strings.ContainsAny(endpoint, "\\ \"<>^`{|}�") {
		return false
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	if !strings.Contains(u.Hostname(), ":") {
		return true
	}
	address, err := netip.ParseAddr(u.Hostname())
	return err == nil && address.Is6()
}
