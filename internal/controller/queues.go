// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/ownership"
)

const (
	// firstPause is that after a first failure; each further one doubles it.
	firstPause = 5 * time.Millisecond
	// MaxPause is the longest pause between two attempts at a workload that fails: what heals
	// by itself is noticed within it.
	MaxPause = 2 * time.Minute
)

// RateLimiter says when a controller of workloads tries again what failed. Each item has its
// own pause, so that many failing ones do not keep each other waiting for longer than MaxPause.
func RateLimiter[T comparable]() workqueue.TypedRateLimiter[T] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstPause, MaxPause)
}

// Queues lead from one kind's controller to another's. The zero value is ready for use; its
// methods are safe for concurrent use.
type Queues struct {
	mu   sync.RWMutex
	adds map[schema.GroupKind]func(types.NamespacedName)
	// asks has an owner that the cache does not hold asked for; nil until somebody can.
	asks func(ownership.Ancestor)
}

// Register says how a kind's workloads are enqueued. The newest registration counts. add must
// not block for long and must not call Register.
func (q *Queues) Register(k kinds.Kind, add func(types.NamespacedName)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.adds == nil {
		q.adds = map[schema.GroupKind]func(types.NamespacedName){}
	}
	q.adds[k.GVK.GroupKind()] = add
}

// Enqueue has a workload looked at. Before its kind's controller runs there is no need to: it
// looks at every workload when it starts.
func (q *Queues) Enqueue(k kinds.Kind, key types.NamespacedName) {
	q.mu.RLock()
	add := q.adds[k.GVK.GroupKind()]
	q.mu.RUnlock()
	if add != nil {
		add(key)
	}
}

// enqueue has a workload looked at that a reference led to.
func (q *Queues) enqueue(a ownership.Ancestor) {
	if k, known := kinds.For(a.GVK.GroupKind()); known {
		q.Enqueue(k, types.NamespacedName{Namespace: a.Namespace, Name: a.Name})
	}
}

func (q *Queues) registerAsk(ask func(ownership.Ancestor)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asks = ask
}

func (q *Queues) ask(a ownership.Ancestor) {
	q.mu.RLock()
	ask := q.asks
	q.mu.RUnlock()
	if ask != nil {
		ask(a)
	}
}
