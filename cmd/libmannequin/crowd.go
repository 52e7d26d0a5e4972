package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
*/
import "C"

import (
	"unsafe"

	"mannequin/animsys"
	"mannequin/cmd/libmannequin/internal/api"
)

//export mqDefaultCrowdDef
func mqDefaultCrowdDef() C.mqCrowdDef {
	return C.mqCrowdDef{cookie: cookie[C.mqCrowdDef](), capacity: 64}
}

//export mqCreateCrowd
func mqCreateCrowd(world C.mqWorldId, d *C.mqCrowdDef, crowd *C.mqCrowdId) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		c, err := api.CreateCrowd(id(world), api.CrowdOptions{Model: id(d.model), Every2: id(d.every2), Every4: id(d.every4), Capacity: int(d.capacity), Workers: int(d.workers)})
		if err == nil {
			set(crowd, c)
		}
		return err
	}, def("the definition", d), to("crowd", crowd))
}

//export mqDestroyCrowd
func mqDestroyCrowd(crowd C.mqCrowdId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.DestroyCrowd(id(crowd)))
}

//export mqCrowd_GetAgents
func mqCrowd_GetAgents(crowd C.mqCrowdId, agents *C.mqAgentId, capacity C.int32_t, count *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	var stride C.int32_t
	return checked(func() error {
		return api.Agents(id(crowd), func(n int, of func(row int) api.ID) {
			*count = C.int32_t(n)
			for row := range min(n, int(capacity)) {
				set(at(agents, row, stride), of(row))
			}
		})
	}, list("agents", agents, capacity, &stride), to("count", count))
}

func goal(g *C.mqGoal) api.Goal {
	return api.Goal{Kind: int32(g.kind), Action: int32(g.action), Move: vec(g.move), Face: vec(g.face), Place: vec(g.place),
		Radius: float32(g.radius), Speed: float32(g.speed), Turn: float32(g.turn)}
}

//export mqCrowd_SetGoals
func mqCrowd_SetGoals(crowd C.mqCrowdId, goals *C.mqGoal, count, stride C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return api.Goals(id(crowd), int(count), func(row int) api.Goal { return goal(at(goals, row, stride)) })
	}, list("goals", goals, count, &stride))
}

//export mqDefaultBoneLayout
func mqDefaultBoneLayout() C.mqBoneLayout {
	return C.mqBoneLayout{cookie: cookie[C.mqBoneLayout](), rotationOffset: 12}
}

//export mqCrowd_GetBones
func mqCrowd_GetBones(crowd C.mqCrowdId, l *C.mqBoneLayout, alpha C.float, bones unsafe.Pointer, size C.size_t, agents *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	dst, err := memory("bones", bones, size)
	return checked(func() error {
		n, err := api.Bones(id(crowd), api.Layout{RelativeTo: int32(l.relativeTo), Format: int32(l.format), BoneStride: int32(l.boneStride), AgentStride: int32(l.agentStride),
			PositionOffset: int32(l.positionOffset), RotationOffset: int32(l.rotationOffset), RealFirst: flag(l.realFirst)}, float32(alpha), dst)
		if agents != nil {
			*agents = C.int32_t(n)
		}
		return err
	}, def("the layout", l), err, optional("agents", agents))
}

//export mqCrowd_GetRoots
func mqCrowd_GetRoots(crowd C.mqCrowdId, alpha C.float, roots *C.mqRoot, stride, capacity C.int32_t, count *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return api.Roots(id(crowd), float32(alpha), func(n int, of func(row int) api.Root) {
			*count = C.int32_t(n)
			for row := range min(n, int(capacity)) {
				root := of(row)
				dst := at(roots, row, stride)
				set(&dst.agent, root.Agent)
				dst.position, dst.heading, dst.moved, dst.turned = cvec(root.At), C.float(root.Heading), cvec(root.Moved), C.float(root.Turned)
			}
		})
	}, list("roots", roots, capacity, &stride), to("count", count))
}

//export mqCrowd_GetEvents
func mqCrowd_GetEvents(crowd C.mqCrowdId, events *C.mqEvent, capacity C.int32_t, count *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	var stride C.int32_t
	return checked(func() error {
		return api.Events(id(crowd), func(all []api.Event) {
			*count = C.int32_t(len(all))
			for i := range min(len(all), int(capacity)) {
				e := &all[i]
				dst := at(events, i, stride)
				*dst = C.mqEvent{kind: C.int32_t(e.Kind), tick: C.int32_t(e.Tick), leg: C.int32_t(e.Leg), joint: C.int32_t(e.Joint), layer: C.int32_t(e.Layer),
					marker: C.int32_t(e.Marker), position: cvec(e.At), normal: cvec(e.Normal), speed: C.float(e.Speed)}
				set(&dst.agent, e.Agent)
				set(&dst.clip, e.Clip)
			}
		})
	}, list("events", events, capacity, &stride), to("count", count))
}

//export mqDefaultLODPolicy
func mqDefaultLODPolicy() C.mqLODPolicy {
	p := animsys.DefaultLOD()
	return C.mqLODPolicy{cookie: cookie[C.mqLODPolicy](), everyTick: C.float(p.EveryTick), every2: C.float(p.Every2), every4: C.float(p.Every4),
		behind: C.float(p.Behind), unseen: C.float(p.Unseen), sight: C.float(p.Sight)}
}

//export mqCrowd_ApplyLOD
func mqCrowd_ApplyLOD(crowd C.mqCrowdId, p *C.mqLODPolicy, eye, ahead C.mqVec3, saving C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return api.ApplyLOD(id(crowd), animsys.LODPolicy{EveryTick: float32(p.everyTick), Every2: float32(p.every2), Every4: float32(p.every4),
			Behind: float32(p.behind), Unseen: float32(p.unseen), Sight: float32(p.sight)}, vec(eye), vec(ahead), float32(saving))
	}, def("the policy", p))
}

//export mqCrowd_GetHash
func mqCrowd_GetHash(crowd C.mqCrowdId, hash *C.uint64_t) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		h, err := api.Hash(id(crowd))
		if err == nil {
			*hash = C.uint64_t(h)
		}
		return err
	}, to("hash", hash))
}
