// SPDX-License-Identifier: Apache-2.0

// Package harness runs what the suites and the demo need on loopback: a real control plane
// (etcd, kube-apiserver and, where asked for, kube-controller-manager), kubectl, and the real
// manager binary. Requests are counted from the API server's own audit log.
//
// Nothing outlives the program that started it: Stop ends and awaits every child, and a
// reaper ends them when the program itself dies first.
package harness
