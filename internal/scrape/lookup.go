// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"
)

// index answers the questions that are asked for every container.
var index = newLookup(patterns)

type lookup struct {
	datasetFlags, servedNameFlags, revisionFlags, manyValueFlags           map[string]bool
	datasetEnv, servedNameEnv, aliasEnv, hubTokens                         map[string]bool
	endpoints, generalEndpoints, protocolEndpoints                         map[string]bool
	addressEndings, providerEnv, credentialWords                           map[string]bool
	otherAddresses                                                         map[string]bool
	forwarders, embeddingNames, documentNames, serverNames, assistantNames map[string]bool
	adapterListFlags, adapterListEnv, modelFolders                         map[string]bool
	otherHubEnv, hubEndpointEnv                                            map[string]bool
	modelListEnv, modelObjectsEnv                                          map[string]bool
	serviceKeys, sharedKeys, serviceURLs, switches                         map[string]*service
	services, providerNames, squashedKeys                                  map[string]*service
	squashedEndings                                                        []string
	products, packages                                                     map[string]*product
	names, commonNames, flags, sharedFlags, labels, managers               map[string]*product
	conversionNames, ownServers, frontEnds, retrievalNames                 map[string]bool
	benchmarkNames, servingSubjects, servingWords, otherPurposes           map[string]bool
	noRuntimes, modelEnvEndings, commonFrameworks                          map[string]bool
	commonEndpoints, dashboards, otherWork, servingObjects                 map[string]bool
	modelMakers, modelWords, thingNames, generalNames                      map[string]bool
	modelPathWords, datasetPathWords                                       map[string]bool
	storeEndings, storeNames, plainRetrievalNames, indexReaders            map[string]bool
	otherEmbeddings, runNames                                              map[string]bool
	pythonRules                                                            map[string][]pythonRule
	execs, modules                                                         map[string][]start
	execGlobs                                                              []start
	wrappers                                                               map[string]*wrapper
}

func newLookup(t *table) *lookup {
	l := &lookup{
		datasetFlags: set(t.DatasetFlags), servedNameFlags: set(t.ServedNameFlags),
		revisionFlags: set(t.RevisionFlags), manyValueFlags: set(t.ManyValueFlags),
		datasetEnv: set(t.DatasetEnv), servedNameEnv: set(t.ServedNameEnv), aliasEnv: set(t.AliasEnv), hubTokens: set(t.HubTokens),
		otherHubEnv: set(t.OtherHubEnv), hubEndpointEnv: set(t.HubEndpointEnv),
		modelListEnv: set(t.ModelListEnv), modelObjectsEnv: set(t.ModelObjectsEnv),
		adapterListFlags: set(t.AdapterListFlags), adapterListEnv: set(t.AdapterListEnv), modelFolders: set(t.ModelFolders),
		endpoints: set(t.Endpoints), generalEndpoints: set(t.GeneralEndpoints), protocolEndpoints: set(t.ProtocolEndpoints),
		addressEndings: set(t.AddressEndings), otherAddresses: set(t.OtherAddresses), providerEnv: set(t.ProviderEnv), credentialWords: set(t.CredentialWords),
		forwarders: set(t.Forwarders), embeddingNames: set(t.EmbeddingNames), documentNames: set(t.DocumentNames), serverNames: set(t.ServerNames), assistantNames: set(t.AssistantNames),
		serviceKeys: map[string]*service{}, sharedKeys: map[string]*service{}, serviceURLs: map[string]*service{}, switches: map[string]*service{},
		services: map[string]*service{}, providerNames: map[string]*service{}, squashedKeys: map[string]*service{},
		products: map[string]*product{}, packages: map[string]*product{},
		names: map[string]*product{}, commonNames: map[string]*product{}, flags: map[string]*product{}, sharedFlags: map[string]*product{}, labels: map[string]*product{},
		managers: map[string]*product{}, noRuntimes: set(t.NoRuntimes), modelEnvEndings: set(t.ModelEnvEndings), commonFrameworks: set(t.CommonFrameworkNames),
		benchmarkNames: set(t.BenchmarkNames), servingSubjects: set(t.ServingSubjects), servingWords: set(t.ServingWords), otherPurposes: set(t.OtherPurposes),
		ownServers: set(t.OwnServers), conversionNames: set(t.ConversionNames), frontEnds: set(t.FrontEnds), retrievalNames: set(t.RetrievalNames),
		commonEndpoints: set(t.CommonEndpoints), dashboards: set(t.Dashboards), otherWork: set(t.OtherWork), servingObjects: set(t.ServingObjects),
		modelMakers: set(t.ModelMakers), modelWords: set(t.ModelWords), thingNames: set(t.ThingNames), generalNames: set(t.GeneralNames),
		modelPathWords: set(t.ModelPathWords), datasetPathWords: set(t.DatasetPathWords),
		storeEndings: set(t.StoreEndings), storeNames: set(t.StoreNames), plainRetrievalNames: set(t.PlainRetrievalNames), indexReaders: set(t.IndexReaders),
		otherEmbeddings: set(t.OtherEmbeddings), runNames: set(t.RunNames),
		execs: map[string][]start{}, modules: map[string][]start{},
		wrappers: map[string]*wrapper{}, pythonRules: map[string][]pythonRule{},
	}
	for _, use := range t.DatasetEnvUses {
		for _, ending := range t.DatasetEnvEndings {
			l.datasetEnv[use+"_"+ending] = true
		}
	}
	for _, subject := range t.EndpointSubjects {
		for _, ending := range t.AddressEndings {
			l.endpoints[subject+"_"+ending] = true
		}
	}
	for _, ending := range slices.Concat(t.AddressEndings, socketEndings) {
		l.squashedEndings = append(l.squashedEndings, squash(ending))
	}
	for _, subject := range t.CommonEndpointSubjects {
		for _, ending := range t.AddressEndings {
			l.commonEndpoints[subject+"_"+ending] = true
		}
	}
	for _, word := range t.OtherWork {
		l.otherPurposes[word] = true
	}
	for i := range t.Services {
		l.addService(&t.Services[i])
	}
	for i := range t.Products {
		l.addProduct(&t.Products[i])
	}
	for i := range t.Wrappers {
		l.wrappers[t.Wrappers[i].Exec] = &t.Wrappers[i]
	}
	for _, r := range t.PythonRules {
		l.pythonRules[r.Call] = append(l.pythonRules[r.Call], r)
	}
	return l
}

func (l *lookup) addService(s *service) {
	l.services[s.Name] = s
	for _, k := range s.Keys {
		l.serviceKeys[k] = s
		l.squashedKeys[squash(k)] = s
	}
	for _, k := range s.SharedKeys {
		l.sharedKeys[k] = s
	}
	for _, u := range s.BaseURLs {
		l.serviceURLs[u] = s
	}
	for _, name := range s.Switches {
		l.switches[name] = s
	}
	for _, name := range s.Names {
		l.providerNames[name] = s
	}
}

func (l *lookup) addProduct(p *product) {
	l.products[p.Name] = p
	for _, name := range p.Packages {
		l.packages[name] = p
	}
	for _, name := range p.Names {
		l.names[name] = p
	}
	for _, name := range p.CommonNames {
		l.commonNames[name], l.names[name] = p, p
	}
	for _, name := range p.Flags {
		l.flags[name] = p
	}
	for _, name := range p.Shared.Flags {
		l.sharedFlags[name] = p
	}
	for _, label := range append(p.Labels[:len(p.Labels):len(p.Labels)], p.Name) {
		l.labels[label] = p
	}
	for _, name := range p.Managers {
		l.managers[name] = p
	}
	for i := range p.Programs {
		program := &p.Programs[i]
		if strings.Contains(program.Exec, "*") {
			l.execGlobs = append(l.execGlobs, start{product: p, program: program})
			continue
		}
		if program.Module != "" {
			l.modules[program.Module] = append(l.modules[program.Module], start{product: p, program: program})
		} else {
			l.execs[program.Exec] = append(l.execs[program.Exec], start{product: p, program: program})
		}
	}
}

// matchesGlob says whether one of the patterns matches, as path.Match has it.
func matchesGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		// What follows the last special character must end the name: that is cheap to ask.
		if !strings.HasSuffix(name, glob[strings.LastIndexAny(glob, `*?[]\`)+1:]) {
			return false
		}
		ok, err := path.Match(glob, name)
		return err == nil && ok
	})
}

func set(items []string) map[string]bool {
	m := make(map[string]bool, len(items))
	for _, item := range items {
		m[item] = true
	}
	return m
}
