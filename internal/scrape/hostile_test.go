// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// hostileGarbage is what one workload may cost in memory, whatever is in it; without the bounds
// these inputs take gigabytes, or never end.
const hostileGarbage = 512 << 20

func repeat[T any](n int, item func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = item(i)
	}
	return all
}

func text(format string) func(i int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// fill is text of many repetitions, as long as a script may be.
func fill(part string) string { return strings.Repeat(part, maxScriptBytes/len(part)) }

func TestHostileWorkloads(t *testing.T) {
	big := strings.Repeat("x", 10<<20)
	long := strings.Repeat("a", maxValueBytes)
	everyContainer := func(c corev1.Container) Input {
		return deployment(repeat(maxContainers, func(int) corev1.Container { return c })...)
	}
	for name, test := range map[string]struct {
		in Input
		// note is what must be recorded as not read.
		note string
	}{
		"10 MB argument":         {deployment(withArgs(vllmImage, "--model", big)), "args[1] was read up to its first"},
		"10 MB command":          {deployment(withCommand(vllmImage, "vllm", "serve", big)), "command[2] was read up to its first"},
		"10 MB script":           {deployment(shell(vllmImage, big)), "command[2] was read up to its first"},
		"10 MB of arguments":     {deployment(withArgs(vllmImage, repeat(1<<20, text("a%d"))...)), "later words were not read"},
		"100,000 flags":          {deployment(withArgs(vllmImage, repeat(100_000, text("--f%d=x"))...)), "later words were not read"},
		"100,000 models":         {deployment(withArgs(vllmImage, repeat(100_000, text("--model=org/m%d"))...)), "more models than are read"},
		"names and models":       {everyContainer(withArgs(vllmImage, append(repeat(200, text("--model=org/m%d")), repeat(200, text("--served-model-name=n%d"))...)...)), "later words were not read"},
		"LoRA modules":           {deployment(withArgs(vllmImage, repeat(10_000, text("--lora-modules=a=b%d"))...)), "more models than are read"},
		"dashless LoRA modules":  {deployment(withCommand("nvcr.io/nvidia/nemo:25.07", repeat(10_000, text("lora-modules=a=b%d"))...)), "more models than are read"},
		"addresses of nothing":   {deployment(withEnv(withArgs(custom, repeat(10_000, text("--f%d"))...), repeat(2_000, text("V%d_MODEL_SERVER_URL=http://a:1/"))...)), ""},
		"data of nothing":        {deployment(withGPU(withArgs(custom, append(repeat(120, text("--data-path=/x%d")), repeat(120, text("--model=/y%d"))...)...), "1")), ""},
		"a long list":            {deployment(withCommand(plain, "lm_eval", "--model_args", fill("model=a,"), "--tasks", fill("a,"))), "more models than are read"},
		"5,000 variables":        {deployment(withEnv(withArgs(vllmImage), repeat(5_000, text("V%d=x"))...)), "env[2048] and later variables were not read"},
		"5,000 variables, 100 x": {deployment(repeat(100, func(int) corev1.Container { return withEnv(withArgs(vllmImage), repeat(5_000, text("V%d=x"))...) })...), "later variables were not read"},
		"a long variable":        {deployment(withEnv(withArgs(vllmImage), "MODEL="+big)), "env[0] was read up to its first"},
		"1,000 containers":       {deployment(repeat(1000, func(i int) corev1.Container { return corev1.Container{Name: fmt.Sprint(i), Image: vllmImage} })...), "containers[128] and later containers were not read"},
		"variables of variables": {deployment(withEnv(withArgs(vllmImage, "--model=$(V1999)"), append([]string{"V=" + long}, repeat(2000, func(i int) string { return fmt.Sprintf("V%d=$(V%d)$(V%d)$(V)", i, i-1, i-1) })...)...)), ""},
		"missing of missing": {deployment(withEnv(withArgs(vllmImage, "--model=$(V1999)"), repeat(2000, func(i int) string {
			return fmt.Sprintf("V%d=", i) + strings.Repeat(fmt.Sprintf("$(V%d)$(X%d)", i-1, i), 200)
		})...)), ""},
		"unclosed references": {everyContainer(withArgs(vllmImage, fill("$("), fill("$($"), fill("$$("), fill("$a"))), ""},
		"many references":     {deployment(withEnv(withArgs(vllmImage, repeat(80, func(int) string { return fill("$(V)") })...), "V="+long)), "later words were not read"},
		"many sources": {deployment(corev1.Container{Image: vllmImage, Args: []string{fill("$(V)$(W)")}, EnvFrom: repeat(5000, func(i int) corev1.EnvFromSource {
			return corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: long + fmt.Sprint(i)}}}
		})}), ""},
		"amplified by a shell": {deployment(shell(vllmImage, "x "+fill("$A ")[:30000], env("A="+strings.Repeat("b ", 8000))...)), "not a shell script that can be read: it is too long"},
		"doubled by a shell":   {deployment(shell(vllmImage, "A=x;"+strings.Repeat("A=${A}${A};", 200)+"vllm serve $A")), ""},
		"a shell in a shell":   {deployment(shell(vllmImage, fill("sh -c \"$A\";"), env("A="+strings.Repeat("sh -c \"$A\";", 1400))...)), "was not read in full"},
		"functions in functions": {deployment(shell(vllmImage, func() string {
			script := "f0() { vllm serve a/b; }; "
			for i := 1; i < 50; i++ {
				script += fmt.Sprintf("f%d() { %s}; ", i, strings.Repeat(fmt.Sprintf("f%d; ", i-1), 50))
			}
			return script + "f49"
		}())), ""},
		"a function that calls itself": {everyContainer(shell(vllmImage, "f() { "+strings.Repeat("f a; ", 5000)+"}; f")), ""},
		"loops in loops":               {deployment(shell(vllmImage, strings.Repeat("for i in 1 2 3 4 5 6 7 8 9 a b c d e f g; do ", 50)+"vllm serve $i"+strings.Repeat("; done", 50))), ""},
		"what loops add":               {deployment(shell(vllmImage, "A=x; for i in 1 2 3 4 5 6 7 8; do for i in 1 2 3 4 5 6 7 8; do for i in 1 2 3 4 5 6 7 8; do A=\"$A$A\"; x && A=\"$A $i\"; B=(\"${B[@]}\" $A); done; done; done; vllm serve $A")), ""},
		"partial values":               {deployment(shell(vllmImage, "A=\"x $U\"; "+strings.Repeat("A=\"$A $A $U\"; ", 1500)+"vllm serve $A")), ""},
		"names of paths":               {deployment(shell(vllmImage, fill("vllm serve $(basename $(dirname $(basename $A))); "), env("A="+long)...)), ""},
		"deep shells":                  {deployment(shell(vllmImage, `sh -c "sh -c 'sh -c \"sh -c a\"'"`)), "shells within shells"},
		"every container":              {everyContainer(shell(vllmImage, fill("echo a;"))), "not read"},
		"running images": {func() Input {
			in := everyContainer(withArgs(vllmImage))
			in.Running = repeat(100_000, func(i int) RunningImage { return RunningImage{fmt.Sprint(i), vllmImage, "a@" + digestA} })
			return in
		}(), ""},
		"absurd names": {deployment(corev1.Container{Name: big, Image: big, Command: []string{"\x00", "\xff\xfe", "-", "--", "=", "--=", "-="}, Env: env("=x", "\xff=\xff", big+"=x")}), ""},
		"absurd volumes": {deployment(corev1.Container{Image: vllmImage, VolumeMounts: repeat(20_000, func(i int) corev1.VolumeMount {
			return corev1.VolumeMount{Name: "v", MountPath: "/models/" + fmt.Sprint(i)}
		})}), "more volumes than are read"},
		"negative devices": {deployment(corev1.Container{Image: vllmImage, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("-5"), "amd.com/gpu": resource.MustParse("9E")}}}), ""},
		"downloads, models, mounts and volumes": {func() Input {
			list := strings.Join(repeat(250, text("a=/models/%d")), ",")
			c := withCommand(plain, append([]string{"hf", "download", "org/m", "--lora-modules", list}, repeat(60, text("/models/to/%d"))...)...)
			c.VolumeMounts = repeat(200, func(i int) corev1.VolumeMount {
				return corev1.VolumeMount{Name: "v", MountPath: "/models/" + fmt.Sprint(i)}
			})
			in := everyContainer(c)
			in.Template.Spec.Volumes = repeat(10_000, func(i int) corev1.Volume { return pvc(fmt.Sprint(i), "claim") })
			return in
		}(), ""},
		"downloads to long paths": {deployment(withCommand(plain, append([]string{"hf", "download", "org/m", "--lora-modules", strings.Join(repeat(250, text("a=/m/%d")), ",")},
			repeat(60, func(i int) string { return "/" + fmt.Sprint(i) + strings.Repeat("/a", 15_000) })...)...)), ""},
		"downloads of a folder of long names": {deployment(shell(plain, "cd /"+strings.Repeat("a/", 1000)+"; "+strings.Repeat("hf download org/m "+strings.Repeat("b ", 60)+"; ", 200))), ""},
		"folders in folders":                  {everyContainer(shell(plain, strings.Repeat("cd a;", 6000))), ""},
		"folders of variables":                {deployment(shell(plain, strings.Repeat("cd $A;", 100)+"hf download org/m", env("A=/a"+strings.Repeat("/b", 8000))...)), ""},
		"a long name of a container":          {deployment(gpu(corev1.Container{Name: strings.Repeat("a-", 5<<20), Image: custom})), ""},
		"long names of containers": {deployment(repeat(100, func(int) corev1.Container {
			return gpu(corev1.Container{Name: strings.Repeat("a-", 50_000), Image: custom})
		})...), ""},
		"a long name of a workload": {called(deployment(gpu(withArgs(custom))), strings.Repeat("embed-", 1<<20), "c"), ""},
		"a long name of an image":   {everyContainer(gpu(withArgs("team/" + strings.Repeat("llama-", 2000)))), ""},
		"long names of variables": {deployment(repeat(20, func(int) corev1.Container {
			return withEnv(withArgs(custom), repeat(2000, func(i int) string { return strings.Repeat("LLM_", 32) + fmt.Sprint(i) + "_URL=http://x/v1" })...)
		})...), ""},
		"a very long name of a variable": {deployment(withEnv(withArgs(custom), strings.Repeat("A_", 5<<20)+"URL=http://x/v1")), ""},
		"long addresses": {deployment(repeat(8, func(int) corev1.Container {
			return withEnv(withArgs(custom), append([]string{"V=" + long}, repeat(2000, text("V%d_URL=http://$(V)/v1"))...)...)
		})...), ""},
		"many addresses":           {everyContainer(withEnv(withArgs(custom), repeat(2048, text("X%d_LLM_URL=http://x/v1/chat/completions"))...)), ""},
		"flags that are addresses": {deployment(withArgs(custom, repeat(16_000, text("--a%d-llm-url=http://0.0.0.0"))...)), ""},
		"programs and scripts":     {deployment(gpu(withCommand(custom, repeat(16_000, text("train_%d.py"))...))), ""},
		"long labels":              {labelledPod(deployment(gpu(withArgs(custom))), "ai.gke.io/inference-server="+big, "hf.co/model="+big, "app.kubernetes.io/managed-by="+big), ""},
		"long paths of probes":     {everyContainer(probed(withCommand(plain, "vllm", "serve"), "/v1/models/"+long)), ""},
		"a long path of a probe":   {deployment(probed(withCommand(plain, "vllm", "serve"), "/v1/models/"+big)), ""},
		"paths like a cache":       {deployment(withArgs(vllmImage, "--model", fill("/models--"))), ""},
		"names for LiteLLM":        {deployment(withEnv(withArgs(custom), repeat(2000, text("M%d_MODEL=openai/openai/hosted_vllm/azure/gpt-4"))...)), ""},
		"a long module":            {everyContainer(withCommand(plain, "python", "-m", fill("src."))), ""},
		"a script in deep folders": {everyContainer(withCommand(plain, "python", fill("a/")+"b.py")), ""},
		"unparsable images":        {deployment(repeat(100, func(i int) corev1.Container { return withArgs(strings.Repeat(":@/", i) + "\xff") })...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.in.Template.Spec.Volumes = append(test.in.Template.Spec.Volumes, pvc("v", "claim"))
			cheap(t, func() {
				report := PodWorkload(test.in)
				NewWithT(t).Expect(notes(report)).To(ContainSubstring(test.note))
				NewWithT(t).Expect(len(report.Properties)).To(BeNumerically("<=", maxNotes))
			})
		})
	}
}

func TestHostileScripts(t *testing.T) {
	for _, source := range []string{
		fill("("), fill("( "), fill("{ "), fill("$("), fill("$(("), fill("$["), fill("${A:-"), fill("\"$("), fill("`"), fill("`\\"),
		fill("a["), fill("<("), fill("@("), fill("[[ ! "), fill("(( ! "), "((" + fill("!")[:30000] + "1))", "[[ " + fill("! ")[:30000] + "a ]]",
		"((" + fill("1?1:")[:30000] + "1))", fill("if a; then "), fill("if if "), fill("while "), fill("case a in a) "), fill("for a do "),
		fill("time "), fill("a|") + "a", fill("a&&")[:30000] + "a", fill("function a() "), fill("a=("), fill("cat <<E\n"), fill("\\"), fill("'"),
		"echo {1..999999999}", "echo {a,b}" + strings.Repeat("{a,b}", 60), "echo ${A%%*a*a*a*a*b}", "echo ${A//a/bbbb}",
		"A=a; " + fill("A=$A$A; ")[:30000] + "echo $A", fill("f() { f | f & }; ")[:30000], "echo $((2**63)) $((9223372036854775807+1)) $((1/0))",
		fill("(a=1);")[:30000], "((" + strings.Repeat("(", 90) + "1" + strings.Repeat(")", 90) + "))", strings.Repeat("${A:-", 90) + "x" + strings.Repeat("}", 90),
		"()Z", "() { exit; }", "function { exit; }", "eval \"$(base64 -d)\"", "\x00\xff", "echo \"\xff\" $'\\xff'", "${", "$", "${!A}", "${A@Q}", "${A[@]}", "${#A}", "${A:1:2}", "$1 $@ $* $# $$ $!",
	} {
		t.Run(fmt.Sprintf("%.20s", source), func(t *testing.T) {
			cheap(t, func() {
				in := deployment(shell(plain, source, env("A="+strings.Repeat("a", maxValueBytes))...))
				NewWithT(t).Expect(PodWorkload(in).Category).To(Equal(evidence.CategoryNone))
			})
		})
	}
}

// cheap runs f and holds it to the bounds.
func cheap(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	f()
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	garbage := after.TotalAlloc - before.TotalAlloc
	t.Logf("%v, %d KiB", took, garbage>>10)
	NewWithT(t).Expect(garbage).To(BeNumerically("<", uint64(hostileGarbage)))
}
