package main

/*
#define MQ_NO_PROTOTYPES
#include "mannequin.h"
*/
import "C"

import (
	"mannequin/animsys/layer"
	"mannequin/cmd/libmannequin/internal/api"
)

//export mqDefaultAgentDef
func mqDefaultAgentDef() C.mqAgentDef { return C.mqAgentDef{cookie: cookie[C.mqAgentDef]()} }

//export mqCreateAgent
func mqCreateAgent(crowd C.mqCrowdId, d *C.mqAgentDef, agent *C.mqAgentId) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		a, err := api.CreateAgent(id(crowd), vec(d.position), float32(d.heading))
		if err == nil {
			set(agent, a)
		}
		return err
	}, def("the definition", d), to("agent", agent))
}

//export mqDestroyAgent
func mqDestroyAgent(agent C.mqAgentId) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.DestroyAgent(id(agent)))
}

//export mqAgent_GetRow
func mqAgent_GetRow(agent C.mqAgentId, row *C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		n, err := api.RowOf(id(agent))
		if err == nil {
			*row = C.int32_t(n)
		}
		return err
	}, to("row", row))
}

//export mqAgent_SetGoal
func mqAgent_SetGoal(agent C.mqAgentId, g *C.mqGoal) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		own := goal(g)
		return api.SetGoal(id(agent), &own)
	}, to("goal", g))
}

//export mqAgent_SetPlace
func mqAgent_SetPlace(agent C.mqAgentId, position C.mqVec3, heading C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetPlace(id(agent), vec(position), float32(heading)))
}

//export mqAgent_Nudge
func mqAgent_Nudge(agent C.mqAgentId, by C.mqVec3) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.Nudge(id(agent), vec(by)))
}

//export mqAgent_SetUpdateRate
func mqAgent_SetUpdateRate(agent C.mqAgentId, rate C.int32_t) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetUpdateRate(id(agent), int32(rate)))
}

//export mqAgent_SetLookAt
func mqAgent_SetLookAt(agent C.mqAgentId, target C.mqVec3, weight C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetLookAt(id(agent), vec(target), float32(weight)))
}

//export mqAgent_SetHand
func mqAgent_SetHand(agent C.mqAgentId, side C.int32_t, target C.mqVec3, weight, seconds C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetHand(id(agent), int32(side), vec(target), float32(weight), float32(seconds)))
}

//export mqDefaultPlayDef
func mqDefaultPlayDef() C.mqPlayDef {
	return C.mqPlayDef{cookie: cookie[C.mqPlayDef](), blendIn: layer.DefaultBlend, blendOut: layer.DefaultBlend, weight: 1, speed: 1}
}

//export mqAgent_PlayClip
func mqAgent_PlayClip(agent C.mqAgentId, clip C.mqClipId, d *C.mqPlayDef) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		return api.PlayClip(id(agent), id(clip), api.PlayOptions{Mask: int32(d.mask), Joint: int32(d.maskJoint), PlayOptions: layer.PlayOptions{
			Layer: int(d.layer), Loop: flag(d.loop), Hold: flag(d.hold), In: float32(d.blendIn), Out: float32(d.blendOut), Weight: float32(d.weight), Speed: float32(d.speed),
			Start: float32(d.start), Additive: flag(d.additive), RootMotion: flag(d.rootMotion), IgnoreWalls: flag(d.ignoreWalls)}})
	}, def("the definition", d))
}

//export mqAgent_StopClip
func mqAgent_StopClip(agent C.mqAgentId, layer C.int32_t, seconds C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.StopClip(id(agent), int32(layer), float32(seconds)))
}

//export mqAgent_SetLayer
func mqAgent_SetLayer(agent C.mqAgentId, layer C.int32_t, weight, speed C.float) (r C.mqResult) {
	defer guard(&r, faults())
	return failed(api.SetLayer(id(agent), int32(layer), float32(weight), float32(speed)))
}

//export mqAgent_GetClip
func mqAgent_GetClip(agent C.mqAgentId, layer C.int32_t, clip *C.mqClipId, seconds *C.double) (r C.mqResult) {
	defer guard(&r, faults())
	return checked(func() error {
		k, s, err := api.Playing(id(agent), int32(layer))
		if err == nil {
			set(clip, k)
			*seconds = C.double(s)
		}
		return err
	}, to("clip", clip), to("seconds", seconds))
}
