//go:build cgo || wasip1

package main

import (
	"mannequin/animsys"
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

type crowdDef struct {
	cookie                uint32
	model, every2, every4 api.ID
	capacity, workers     int32
}

func defaultCrowdDef() crowdDef { return crowdDef{cookie: cookie[crowdDef](), capacity: 64} }

func createCrowd(world api.ID, def ptr[crowdDef], crowd ptr[api.ID]) (err error) {
	d, out := definition(&err, "the definition", def), to(&err, "crowd", crowd)
	if err != nil {
		return err
	}
	c, err := api.CreateCrowd(world, api.CrowdOptions{Model: d.model, Every2: d.every2, Every4: d.every4, Capacity: int(d.capacity), Workers: int(d.workers)})
	if err == nil {
		*out = c
	}
	return err
}

func getAgents(crowd api.ID, agents ptr[api.ID], capacity int32, count ptr[int32]) (err error) {
	out, ofCount := list(&err, "agents", agents, capacity, 0), to(&err, "count", count)
	if err != nil {
		return err
	}
	return api.Agents(crowd, func(n int, of func(row int) api.ID) {
		*ofCount = int32(n)
		for row := range min(n, int(capacity)) {
			*out.at(row) = of(row)
		}
	})
}

func setGoals(crowd api.ID, goals ptr[api.Goal], count, stride int32) (err error) {
	all := list(&err, "goals", goals, count, stride)
	if err != nil {
		return err
	}
	return api.Goals(crowd, int(count), func(row int) api.Goal { return *all.at(row) })
}

type boneLayout struct {
	cookie uint32
	api.Layout
}

func defaultBoneLayout() boneLayout {
	return boneLayout{cookie[boneLayout](), api.Layout{RotationOffset: 12}}
}

func getBones(crowd api.ID, layout ptr[boneLayout], alpha float32, bones address, size uint64, agents ptr[int32]) (err error) {
	l, dst, ofAgents := definition(&err, "the layout", layout), memory(&err, "bones", bones, size), optional(&err, "agents", agents)
	if err != nil {
		return err
	}
	n, err := api.Bones(crowd, l.Layout, alpha, dst)
	if ofAgents != nil {
		*ofAgents = int32(n)
	}
	return err
}

func getRoots(crowd api.ID, alpha float32, roots ptr[api.Root], stride, capacity int32, count ptr[int32]) (err error) {
	out, ofCount := list(&err, "roots", roots, capacity, stride), to(&err, "count", count)
	if err != nil {
		return err
	}
	return api.Roots(crowd, alpha, func(n int, of func(row int) api.Root) {
		*ofCount = int32(n)
		for row := range min(n, int(capacity)) {
			*out.at(row) = of(row)
		}
	})
}

func getEvents(crowd api.ID, events ptr[api.Event], capacity int32, count ptr[int32]) (err error) {
	out, ofCount := list(&err, "events", events, capacity, 0), to(&err, "count", count)
	if err != nil {
		return err
	}
	return api.Events(crowd, func(all []api.Event) {
		*ofCount = int32(len(all))
		for i := range min(len(all), int(capacity)) {
			*out.at(i) = all[i]
		}
	})
}

type lodPolicy struct {
	cookie uint32
	animsys.LODPolicy
}

func defaultLODPolicy() lodPolicy { return lodPolicy{cookie[lodPolicy](), animsys.DefaultLOD()} }

func applyLOD(crowd api.ID, policy ptr[lodPolicy], eye, ahead m3.Vec3, saving float32) (err error) {
	p := definition(&err, "the policy", policy)
	if err != nil {
		return err
	}
	return api.ApplyLOD(crowd, p.LODPolicy, eye, ahead, saving)
}

func getHash(crowd api.ID, hash ptr[uint64]) (err error) {
	out := to(&err, "hash", hash)
	if err != nil {
		return err
	}
	h, err := api.Hash(crowd)
	if err == nil {
		*out = h
	}
	return err
}
