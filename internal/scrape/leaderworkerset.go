// SPDX-License-Identifier: Apache-2.0

package scrape

import "github.com/k8s-aibom/k8s-aibom/internal/evidence"

// readLeaderWorkerSet reads a LeaderWorkerSet. See https://lws.sigs.k8s.io
func readLeaderWorkerSet(g *group, object field) error {
	spec := object.get("spec")
	if _, err := readLeaderAndWorker(g, spec); err != nil {
		return err
	}
	g.set(evidence.PropLWSSize, spec.get("leaderWorkerTemplate", "size"))
	g.set(evidence.PropLWSReplicas, spec.get("replicas"))
	return nil
}

// readLeaderAndWorker reads the pod templates of a LeaderWorkerSet's spec. Without a template
// for leaders that for workers makes both.
func readLeaderAndWorker(g *group, spec field) ([]*part, error) {
	templates := spec.get("leaderWorkerTemplate")
	if err := templates.object(); err != nil {
		return nil, err
	}
	worker, leader := templates.get("workerTemplate"), templates.get("leaderTemplate")
	if err := worker.object(); err != nil {
		return nil, err
	}
	workers := g.addTemplate(worker, nil, "").describe(evidence.PropLWSRole, "worker")
	if !leader.present() {
		return []*part{workers.describe(evidence.PropLWSRole, "leader")}, nil
	}
	leaders := g.addTemplate(leader, nil, "").describe(evidence.PropLWSRole, "leader")
	return []*part{leaders, workers}, nil
}
