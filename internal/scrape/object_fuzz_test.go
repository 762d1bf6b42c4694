// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// FuzzObject feeds any JSON object to the reader of any kind. None may panic or change the
// object; a report is the same every time, says where each finding was read, and holds no more
// findings than the object has bytes.
func FuzzObject(f *testing.F) {
	for _, seed := range []struct {
		kind uint8
		json string
	}{
		{0, `{"spec":{"predictor":{"serviceAccountName":"a","model":{"modelFormat":{"name":"huggingface","version":"1"},"storageUri":"s3://b/m","args":["--model_name=x","--model_id","a/b"],"storage":{"key":"k","path":"p","parameters":{"type":"s3"}}},"sklearn":{"storageUri":"gs://x"},"containers":[{"name":"c","image":"vllm/vllm-openai:v1.0","volumeMounts":[{"name":"v","mountPath":"/models"}]}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}}],"workerSpec":{"containers":[{}]}},"transformer":{"containers":[null]},"explainer":{"containers":[{"name":"c"}]}}}`},
		{1, `{"metadata":{"annotations":{"model.k8saibom.dev/name":"m","x":1}},"spec":{"backendFramework":"trtllm","env":[{"name":"A","value":"$(A)$(B)"}],"components":[{"name":"a","type":"frontend","podTemplate":{"spec":{"containers":[{"name":"main","image":"nvcr.io/nvidia/ai-dynamo/vllm-runtime:1","command":["sh","-c","python3 -m dynamo.vllm --model $A"]}]}},"modelRef":{"name":"m","revision":"r"},"roles":[{"name":"l","podTemplate":{"metadata":{"annotations":{"model.k8saibom.dev/name":"m"}},"spec":{}}}]}]}}`},
		{2, `{"spec":{"name":"a","type":"worker","modelRef":{"name":"$X"},"podTemplate":{"spec":{"initContainers":[{"image":"i"}]}}}}`},
		{3, `{"spec":{"image":{"repository":"nvcr.io/nim/meta/llama","tag":"1.0.0"},"env":[{"name":"NIM_SERVED_MODEL_NAME","valueFrom":{"secretKeyRef":{"key":"k"}}}],"resources":{"limits":{"nvidia.com/gpu":1}},"storage":{"nimCache":{"name":"c","profile":""},"pvc":{"name":"p"},"hostPath":"/x","emptyDir":{"sizeLimit":1}},"multiNode":{"backendType":"lws","parallelism":{"tensor":1,"pipeline":2.5}}}}`},
		{4, `{"spec":{"replicas":1,"leaderWorkerTemplate":{"size":2,"leaderTemplate":{"spec":{"containers":[{"name":"l","image":"ollama/ollama","args":["run","m"]}]}},"workerTemplate":{"spec":{"containers":[{"name":"w","resources":{"requests":{"google.com/tpu":"4"}}}]}}}}}`},
		{5, `{"spec":{"slices":2,"roles":[{"name":"p","spec":{"leaderWorkerTemplate":{"workerTemplate":{"spec":{"containers":[{"image":"vllm/vllm-openai"}]}}}}},{"name":"d","spec":7},8]}}`},
		{0, `{"spec":{"predictor":{"model":{"modelFormat":{"name":"nvidia-nim-llama3"},"runtime":"nvidia-nim-x-1.0.0","storageUri":"pvc://c/"},"containers":[{"image":"team/torchserve","livenessProbe":{"httpGet":{"path":"/v1/models/m","port":1}}}]}}}`},
		{4, `{"spec":{"leaderWorkerTemplate":{"workerTemplate":{"metadata":{"labels":{"hf.co/model":"a--b","kubeai.org/engine":"x"}},"spec":{"initContainers":[{"command":["hf","download","o/m","--local-dir","/m"]}],"containers":[{"image":"llamacpp-llama3-8b","args":["-m","/m"]}]}}}}}`},
		{0, `{"spec":null}`}, {3, `{"spec":{"image":[]}}`}, {5, `{"spec":{"roles":[]}}`}, {1, `{}`},
	} {
		f.Add(seed.kind, []byte(seed.json))
	}
	third := kinds.ThirdParty()
	known := map[string]bool{}
	for _, term := range evidence.Taxonomy {
		known[term.Name] = true
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		var object map[string]any
		if json.Unmarshal(data, &object) != nil || object == nil {
			return
		}
		object = wholeNumbers(object).(map[string]any)
		before := runtime.DeepCopyJSON(object)
		in := ObjectInput{Object: object, Running: []RunningImage{{Container: "main", Image: "i", ImageID: "i@" + digest(1)}}}
		k := third[int(kind)%len(third)]
		report, err := Object(k, in)
		again, errAgain := Object(k, in)

		g := NewWithT(t)
		g.Expect(again).To(Equal(report))
		g.Expect(errAgain == nil).To(Equal(err == nil))
		g.Expect(object).To(Equal(before))
		if err != nil {
			g.Expect(report).To(BeZero())
			return
		}
		g.Expect(len(report.Findings)).To(BeNumerically("<=", len(data)))
		properties := report.Properties
		for _, finding := range report.Findings {
			g.Expect(finding.Name).NotTo(BeEmpty(), "%+v", finding)
			g.Expect(finding.Evidence).NotTo(BeEmpty(), "%+v", finding)
			for _, e := range finding.Evidence {
				g.Expect(e.Locator).NotTo(BeEmpty(), "%+v", finding)
			}
			properties = append(properties, finding.Properties...)
		}
		for _, p := range properties {
			g.Expect(known).To(HaveKey(p.Name))
		}
	})
}
