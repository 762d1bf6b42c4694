// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

// deployment is a workload with the containers.
func deployment(containers ...corev1.Container) Input {
	for i := range containers {
		if containers[i].Name == "" {
			containers[i].Name = "c" + string(rune('0'+i))
		}
	}
	return Input{
		Workload:        evidence.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "ns", Name: "w", UID: "u"},
		Template:        &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: containers}},
		TemplateLocator: "spec.template",
	}
}

func job(containers ...corev1.Container) Input {
	in := deployment(containers...)
	in.Workload.APIVersion, in.Workload.Kind = "batch/v1", "Job"
	return in
}

// withArgs is a container with an image and arguments.
func withArgs(image string, args ...string) corev1.Container {
	return corev1.Container{Image: image, Args: args}
}

func withCommand(image string, command ...string) corev1.Container {
	return corev1.Container{Image: image, Command: command}
}

// shell is a container that runs a script.
func shell(image, script string, env ...corev1.EnvVar) corev1.Container {
	return corev1.Container{Image: image, Command: []string{"/bin/sh", "-c", script}, Env: env}
}

// env makes variables of name=value texts.
func env(pairs ...string) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		all = append(all, corev1.EnvVar{Name: name, Value: value})
	}
	return all
}

func withEnv(c corev1.Container, pairs ...string) corev1.Container {
	c.Env = append(c.Env, env(pairs...)...)
	return c
}

func withGPU(c corev1.Container, count string) corev1.Container {
	c.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(count)}
	return c
}

// fromSecret is a variable whose value is a key of the Secret or ConfigMap.
func fromSecret(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}

func fromConfigMap(name, configMap, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: key,
	}}}
}

// of are the findings of a type.
func of(r evidence.Report, types ...evidence.Type) []evidence.Finding {
	var all []evidence.Finding
	for _, f := range r.Findings {
		for _, t := range types {
			if f.Type == t {
				all = append(all, f)
			}
		}
	}
	return all
}

// lines says the findings of a type in short: name, version, role, origin, confidence, and
// what is missing or served.
func lines(r evidence.Report, types ...evidence.Type) []string {
	var all []string
	for _, f := range of(r, types...) {
		all = append(all, line(f))
	}
	return all
}

func line(f evidence.Finding) string {
	text := f.Name
	if f.Version != "" {
		text += "@" + f.Version
	}
	if f.Role != "" {
		text += " " + string(f.Role)
	}
	if f.Origin != "" {
		text += " " + string(f.Origin)
	}
	switch f.Confidence {
	case evidence.Inferred:
		text += " inferred"
	case evidence.Unresolved:
		text += " unresolved=" + property(f, evidence.PropIdentityUnresolved)
	}
	if served := property(f, evidence.PropIdentityServedName); served != "" {
		text += " as=" + served
	}
	return text
}

func property(f evidence.Finding, name string) string {
	var values []string
	for _, p := range f.Properties {
		if p.Name == name {
			values = append(values, p.Value)
		}
	}
	return strings.Join(values, ",")
}

func notes(r evidence.Report) string {
	var all []string
	for _, p := range r.Properties {
		all = append(all, p.Value)
	}
	return strings.Join(all, "\n")
}

func names(r evidence.Report, types ...evidence.Type) []string {
	var all []string
	for _, f := range of(r, types...) {
		all = append(all, f.Name)
	}
	return all
}

func pvc(name, claim string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}
