// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// listens says whether a host without a port is rather where a server listens than one to call.
func listens(host string) bool {
	return host == "localhost" || host == "*" || strings.HasPrefix(host, ":") || ipOf(host).IsLoopback()
}

// isPage says whether the address is that of a page, a picture or another file that a server hands out.
func isPage(address string) bool {
	if len(address) > maxNameBytes {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && slices.Contains(patterns.PageFiles, path.Ext(u.Path))
}

// modelPaths are the paths of OpenAI's protocol that ask a model, ollamaPaths those of Ollama, which
// anybody's server may have.
var (
	modelPaths  = []string{"/v1/chat/completions", completions, "/v1/embeddings"}
	ollamaPaths = []string{"/api/generate", "/api/chat", "/api/embeddings", "/api/embed"}
)

const completions = "/v1/completions"

// asksModel says whether the address has the path of a model server's API, of Ollama's only at its
// port or at a host that is named after it.
func asksModel(address string) bool {
	if askedModel(address) != "" {
		return true
	}
	if len(address) > maxNameBytes {
		address, _, _ = strings.Cut(address, "?") // a query may be long
	}
	u, err := url.Parse(clip(address, maxNameBytes))
	if err != nil || u.Host == "" {
		return false
	}
	to := path.Clean("/" + u.Path)
	if slices.Contains(ollamaPaths, to) {
		return u.Port() == "11434" || slices.Contains(words(u.Hostname()), "ollama")
	}
	return slices.ContainsFunc(modelPaths, func(p string) bool {
		below, ok := strings.CutSuffix(to, p)
		// Courses and forms are completed as well, below paths of their own.
		return ok && (p != completions || (strings.Count(below, "/") <= 1 && below != "/api"))
	})
}

// askedPaths are the paths by which one model is asked in the protocols of TensorFlow Serving, of KServe
// and of TorchServe, of which the last is told from a path of anybody's by its version. See
// https://www.tensorflow.org/tfx/serving/api_rest,
// https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol and
// https://pytorch.org/serve/inference_api.html
var askedPaths = []*regexp.Regexp{
	regexp.MustCompile(`/v1/models/(` + pathName + `)(?:/versions/[^/]+|/labels/[^/]+)?:(?:predict|explain|classify|regress)$`),
	regexp.MustCompile(`/v2/models/(` + pathName + `)(?:/versions/[^/]+)?/(?:infer|generate|generate_stream)$`),
	regexp.MustCompile(`/predictions/(` + pathName + `)/[0-9]+(?:\.[0-9]+)*$`),
}

// pathName is the name of a model in a path.
const pathName = `[A-Za-z0-9][A-Za-z0-9._-]*`

// askedModel is the model that is asked at an address, and empty where the address does not say.
func askedModel(address string) string {
	if !strings.Contains(address, "/models/") && !strings.Contains(address, "/predictions/") {
		return "" // most of them
	}
	u, err := url.Parse(clip(address, maxNameBytes))
	if err != nil || u.Host == "" {
		return ""
	}
	for _, p := range askedPaths {
		if m := p.FindStringSubmatch(path.Clean(u.Path)); m != nil {
			return m[1]
		}
	}
	return ""
}

// isOwn says whether the host is one that only the cluster or the company knows.
func isOwn(host string) bool {
	return host != "" && (!strings.Contains(host, ".") || ipOf(host).IsValid() || strings.HasSuffix(host, ".svc") ||
		strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal"))
}

// isForeign says whether the address is one of the public web that has no path of a model server.
func isForeign(address string) bool {
	return strings.HasPrefix(address, "https://") && !isOwn(hostOf(address)) && !speaksProtocol(address) && !asksModel(address)
}

// speaksProtocol says whether the address has a path of OpenAI's protocol; the second is KServe's.
func speaksProtocol(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (within(path.Clean(u.Path), "/v1") || within(path.Clean(u.Path), "/openai/v1"))
}

// isServerOfModels says whether the path or the host in an address shows that a model server is there.
func isServerOfModels(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return isHostOfModels(address)
	}
	to := path.Clean("/" + u.Path)
	return speaksProtocol(address) || asksModel(address) || isHostOfModels(address) ||
		slices.ContainsFunc(serverPaths, func(p string) bool { return within(to, p) })
}

// serverPaths begin the paths of KServe's second protocol, of TorchServe and of MLflow.
var serverPaths = []string{"/v2/models", "/predictions", "/invocations"}

// isHostOfModels says whether the host is named after a model server's program, or after the model that it serves.
func isHostOfModels(address string) bool {
	host := hostOf(address)
	p, _ := productIn(host)
	return (p != nil && p.Category == evidence.CategoryInference) || isHostOfModel(host)
}

// isHostOfModel says whether the host is named after a model and as a server, as in gemma-7b-service: the
// model alone may be meant without its server.
func isHostOfModel(host string) bool {
	name, _, within := strings.Cut(strings.ToLower(host), ".")
	return beginsWith(patterns.ModelFamilies, name) && sizedName.MatchString(name) && (within || speaksOf(index.servingWords, name))
}

// target is the part of an address that says where requests go. What else stands there, as a user, a
// query and words behind it do, says nothing of that and may be a credential.
func target(address string) string {
	if hostOf(address) == "" {
		return address
	}
	begin := 0
	if i := strings.Index(address, "://"); i >= 0 {
		begin = i + len("://")
	}
	rest := address[begin:]
	if end := strings.IndexAny(rest, "?#; "); end >= 0 {
		if strings.Contains(rest[end:], "@") {
			return address // perhaps the end of a password, which is for the redaction to find
		}
		rest = rest[:end]
	}
	host, _, _ := strings.Cut(rest, "/")
	return address[:begin] + rest[strings.LastIndexByte(host, '@')+1:]
}

// ipOf is the IP address that the host is, if it is one.
func ipOf(host string) netip.Addr {
	ip, _ := netip.ParseAddr(host)
	return ip
}
