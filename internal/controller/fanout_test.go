// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
	"github.com/k8s-aibom/k8s-aibom/internal/settings"
)

// pagedReader answers lists of metadata with so many workloads of each kind, in pages.
type pagedReader struct {
	client.Reader
	sizes map[string]int
	// before is called before each answer; its error is the answer.
	before func(ctx context.Context, kind, token string) error

	mu       sync.Mutex
	requests []string // kind@token
}

func (r *pagedReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	metadata, ok := list.(*metav1.PartialObjectMetadataList)
	if !ok {
		return fmt.Errorf("%T is more than metadata", list)
	}
	kind := metadata.GroupVersionKind().Kind
	r.mu.Lock()
	r.requests = append(r.requests, kind+"@"+o.Continue)
	r.mu.Unlock()
	if r.before != nil {
		if err := r.before(ctx, kind, o.Continue); err != nil {
			return err
		}
	}
	begin, _ := strconv.Atoi(o.Continue)
	end := min(begin+int(o.Limit), r.sizes[kind])
	for i := begin; i < end; i++ {
		item := metav1.PartialObjectMetadata{}
		item.Namespace, item.Name = "ns", fmt.Sprintf("w%d", i)
		metadata.Items = append(metadata.Items, item)
	}
	if end < r.sizes[kind] {
		metadata.Continue = strconv.Itoa(end)
	}
	return nil
}

func (r *pagedReader) asked(request string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := 0
	for _, each := range r.requests {
		if each == request {
			count++
		}
	}
	return count
}

// fanoutWorld is a Fanout of two kinds that counts what it enqueues.
type fanoutWorld struct {
	*Fanout
	g      *WithT
	reader *pagedReader
	store  *settings.Store
	clock  *clocktesting.FakeClock

	mu       sync.Mutex
	enqueued map[string]int // kind/name
}

func newFanoutWorld(t *testing.T, sizes map[string]int, some ...string) *fanoutWorld {
	t.Helper()
	w := &fanoutWorld{
		g: NewWithT(t), reader: &pagedReader{sizes: sizes}, store: settings.NewStore(),
		clock: clocktesting.NewFakeClock(time.Unix(0, 0)), enqueued: map[string]int{},
	}
	var reporting []kinds.Kind
	for _, k := range kinds.Catalogue {
		if slices.Contains(some, k.Name()) {
			reporting = append(reporting, k)
		}
	}
	w.Fanout = NewFanout(w.store, FanoutOptions{
		Reader: w.reader, Clock: w.clock, Log: logr.Discard(),
		Kinds: func() []kinds.Kind { return reporting },
		Enqueue: func(k kinds.Kind, key types.NamespacedName) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.enqueued[k.Name()+" "+key.String()]++
		},
	})
	return w
}

func (w *fanoutWorld) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.enqueued)
}

func inBackground(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// allow brings a list of kinds into force.
func (w *fanoutWorld) allow(t *testing.T, entries ...string) {
	t.Helper()
	spec := v1beta1.AIBOMControllerConfigSpec{Discovery: v1beta1.DiscoverySpec{WorkloadKinds: entries}}
	snapshot, invalid := settings.Compile(t.Context(), spec, settings.Dependencies{})
	w.g.Expect(invalid).NotTo(HaveOccurred())
	w.store.Apply(settings.Valid(snapshot))
}

func TestFanoutEnqueuesEveryWorkloadOnceInPages(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"DeploymentList": 1201, "JobList": 3, "CronJobList": 0}, "Deployment", "Job", "CronJob")
	w.g.Expect(w.TriggerContext(t.Context())).To(Succeed())
	w.g.Expect(w.enqueued).To(HaveLen(1204))
	w.g.Expect(w.enqueued).To(HaveEach(1))
	w.g.Expect(w.enqueued).To(And(HaveKey("Deployment ns/w1200"), HaveKey("Job ns/w2")))
	w.g.Expect(w.reader.requests).To(ConsistOf("DeploymentList@", "DeploymentList@500", "DeploymentList@1000", "JobList@", "CronJobList@"))
}

func TestFanoutBeginsAKindAgainWhenItsTokenExpires(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"DeploymentList": 600, "JobList": 1}, "Deployment", "Job")
	answers := []error{apierrors.NewResourceExpired("too old"), apierrors.NewGenericServerResponse(http.StatusGone, "list", schema.GroupResource{}, "", "too old", 0, true)}
	w.reader.before = func(_ context.Context, _, token string) error {
		if token == "" || len(answers) == 0 {
			return nil
		}
		err := answers[0]
		answers = answers[1:]
		return err
	}
	w.g.Expect(w.TriggerContext(t.Context())).To(Succeed())
	w.g.Expect(w.count()).To(Equal(601))
	w.g.Expect(w.reader.asked("DeploymentList@")).To(Equal(3), "from its first page")
	w.g.Expect(w.reader.asked("JobList@")).To(Equal(1), "the other kind is not listed again")
}

func TestFanoutDoesNotFollowExpiringTokensForEver(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"DeploymentList": 600}, "Deployment")
	w.reader.before = func(_ context.Context, _, token string) error {
		if token == "" {
			return nil
		}
		return apierrors.NewResourceExpired("too old")
	}
	err := w.TriggerContext(t.Context())
	w.g.Expect(err).To(MatchError(ContainSubstring("listing apps/Deployment for the fan-out: too old")))
	w.g.Expect(w.reader.asked("DeploymentList@")).To(Equal(fanoutAttempts))
}

func TestFanoutSkipsAKindThatTheClusterDoesNotHave(t *testing.T) {
	for name, answer := range map[string]error{
		"never": &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "NIMService"}},
		"now":   apierrors.NewNotFound(schema.GroupResource{Resource: "nimservices"}, ""),
	} {
		w := newFanoutWorld(t, map[string]int{"JobList": 2}, "NIMService", "Job")
		w.reader.before = func(_ context.Context, kind, _ string) error {
			if kind == "NIMServiceList" {
				return answer
			}
			return nil
		}
		w.g.Expect(w.TriggerContext(t.Context())).To(Succeed(), name)
		w.g.Expect(w.count()).To(Equal(2))
		w.g.Expect(w.reader.asked("NIMServiceList@")).To(Equal(1), "absence is no failure")
	}
}

func TestFanoutTriesAFailingKindAgainAndNoOther(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 2, "NIMServiceList": 2}, "NIMService", "Job")
	var down atomic.Bool
	down.Store(true)
	w.reader.before = func(_ context.Context, kind, _ string) error {
		if kind == "NIMServiceList" && down.Load() {
			return errors.New("conversion webhook failed")
		}
		return nil
	}
	w.started(t)
	w.g.Expect(w.TriggerContext(t.Context())).NotTo(Succeed())
	w.g.Expect(w.count()).To(Equal(2), "the other kind does not wait for it")
	w.g.Eventually(func() int {
		w.clock.Step(fanoutBackoffMax)
		return w.reader.asked("NIMServiceList@")
	}).Should(BeNumerically(">", 10), "as long as it fails")
	down.Store(false)
	w.g.Eventually(func() int {
		w.clock.Step(fanoutBackoffMax)
		return w.count()
	}).Should(Equal(4), "and without another change")
	w.g.Expect(w.reader.asked("JobList@")).To(Equal(1), "what did not fail is not listed again")
	lists := w.reader.asked("NIMServiceList@")
	w.clock.Step(fanoutBackoffMax)
	w.g.Consistently(w.reader.asked, "50ms").WithArguments("NIMServiceList@").Should(Equal(lists), "nor what fails no more")
}

func TestFanoutNamesTheKindsThatKeepFailing(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 2}, "NIMService", "LeaderWorkerSet", "Job")
	w.reader.before = func(_ context.Context, kind, _ string) error {
		if kind == "JobList" {
			return nil
		}
		return errors.New("conversion webhook failed")
	}
	err := w.TriggerContext(t.Context())
	w.g.Expect(err).To(MatchError(And(
		ContainSubstring("listing apps.nvidia.com/NIMService for the fan-out: conversion webhook failed"),
		ContainSubstring("listing leaderworkerset.x-k8s.io/LeaderWorkerSet for the fan-out: conversion webhook failed"),
	)))
	w.g.Expect(w.count()).To(Equal(2))
	w.g.Expect(w.reader.asked("NIMServiceList@")).To(Equal(1), "what failed is left to Start")
}

func TestFanoutPausesGrowToABound(t *testing.T) {
	w := newFanoutWorld(t, nil, "NIMService")
	w.reader.before = func(context.Context, string, string) error { return errors.New("down") }
	w.started(t)
	w.allow(t, "batch/Job")
	w.g.Eventually(w.reader.asked).WithArguments("NIMServiceList@").Should(Equal(1))
	for i, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		pause := time.Duration(seconds) * time.Second
		w.g.Eventually(w.clock.HasWaiters).Should(BeTrue(), "a pause")
		w.clock.Step(pause - time.Millisecond)
		w.g.Expect(w.reader.asked("NIMServiceList@")).To(Equal(i+1), "not before %s", pause)
		w.clock.Step(time.Millisecond)
		w.g.Eventually(w.reader.asked).WithArguments("NIMServiceList@").Should(Equal(i+2), "after %s", pause)
	}
}

func TestFanoutWaitsForItsTurnAndGivesUpWhenTold(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 1}, "Job")
	entered, proceed := make(chan struct{}), make(chan struct{})
	w.reader.before = func(context.Context, string, string) error {
		entered <- struct{}{}
		<-proceed
		return nil
	}
	first := inBackground(func() error { return w.TriggerContext(t.Context()) })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	second := inBackground(func() error { return w.TriggerContext(ctx) })
	w.g.Consistently(second, "50ms").ShouldNot(Receive(), "it is not its turn")
	cancel()
	w.g.Eventually(second).Should(Receive(MatchError(context.Canceled)))
	proceed <- struct{}{}
	w.g.Eventually(first).Should(Receive(BeNil()))
	w.g.Expect(w.reader.asked("JobList@")).To(Equal(1), "who gave up listed nothing")
	w.g.Expect(w.TriggerContext(ctx)).To(MatchError(context.Canceled), "nor does who was told before")
	w.g.Expect(w.reader.asked("JobList@")).To(Equal(1))
}

func TestFanoutEndsARequestWhenTold(t *testing.T) {
	w := newFanoutWorld(t, nil, "Job")
	w.reader.before = func(ctx context.Context, _, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := inBackground(func() error { return w.TriggerContext(ctx) })
	w.g.Eventually(w.reader.asked).WithArguments("JobList@").Should(Equal(1))
	cancel()
	w.g.Eventually(done).Should(Receive(MatchError(context.Canceled)))
	w.g.Expect(w.reader.asked("JobList@")).To(Equal(1), "nothing is tried again")
}

// started runs the Fanout until the test ends.
func (w *fanoutWorld) started(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := inBackground(func() error { return w.Start(ctx) })
	t.Cleanup(func() {
		cancel()
		w.g.Eventually(done).Should(Receive(BeNil()), "it ends without an error")
	})
}

func TestFanoutFollowsTheAllowlistOnly(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 1}, "Job")
	w.g.Expect(w.NeedLeaderElection()).To(BeTrue())
	w.started(t)
	lists := func() int { return w.reader.asked("JobList@") }

	w.allow(t, "batch/Job", "batch/CronJob")
	w.g.Eventually(lists).Should(Equal(1), "the list of kinds changed")
	w.allow(t, "batch/CronJob", "batch/Job")
	snapshot, _ := settings.Compile(t.Context(), v1beta1.AIBOMControllerConfigSpec{
		Discovery: v1beta1.DiscoverySpec{WorkloadKinds: []string{"batch/CronJob", "batch/Job"}},
		Logging:   v1beta1.LoggingSpec{Level: "debug"},
	}, settings.Dependencies{})
	w.store.Apply(settings.Valid(snapshot))
	w.g.Consistently(lists, "50ms").Should(Equal(1), "neither its order nor another field is a change of it")
	w.store.Apply(settings.Absent())
	w.g.Eventually(lists).Should(Equal(2), "without a configuration every kind is in")
}

func TestFanoutNotesChangesFromBeforeItsStart(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 1}, "Job")
	w.allow(t, "batch/Job")
	w.allow(t, "batch/CronJob")
	w.started(t)
	w.g.Eventually(w.count).Should(Equal(1))
	w.g.Consistently(w.reader.asked, "50ms").WithArguments("JobList@").Should(Equal(1), "both changes are one fan-out")
}

func TestFanoutCoalescesChangesWhileOneRuns(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 1}, "Job")
	entered, proceed := make(chan struct{}, 8), make(chan struct{})
	w.reader.before = func(context.Context, string, string) error {
		entered <- struct{}{}
		<-proceed
		return nil
	}
	w.started(t)
	w.allow(t, "batch/Job")
	<-entered
	for range 25 {
		w.allow(t, "batch/CronJob")
		w.allow(t, "batch/Job")
	}
	close(proceed)
	w.g.Eventually(w.reader.asked).WithArguments("JobList@").Should(Equal(2), "one more follows")
	w.g.Consistently(w.reader.asked, "50ms").WithArguments("JobList@").Should(Equal(2), "and no other")
}

func TestFanoutBeginsAnewWhenTheAllowlistChangesDuringAPause(t *testing.T) {
	w := newFanoutWorld(t, map[string]int{"JobList": 1, "NIMServiceList": 1}, "NIMService", "Job")
	var mu sync.Mutex
	down := true
	w.reader.before = func(_ context.Context, kind, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if kind == "NIMServiceList" && down {
			return errors.New("down")
		}
		return nil
	}
	w.started(t)
	w.allow(t, "batch/Job")
	w.g.Eventually(w.clock.HasWaiters).Should(BeTrue(), "the failing kind waits")
	w.allow(t, "batch/CronJob")
	w.g.Eventually(w.reader.asked).WithArguments("JobList@").Should(Equal(2), "no kind waits for the one that fails")
	mu.Lock()
	down = false
	mu.Unlock()
	w.allow(t, "batch/Job")
	w.g.Eventually(w.count).Should(Equal(2))
}
