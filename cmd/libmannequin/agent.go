//go:build cgo || wasip1

package main

import (
	"mannequin/animsys/layer"
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
)

type agentDef struct {
	cookie   uint32
	position m3.Vec3
	heading  float32
}

func defaultAgentDef() agentDef { return agentDef{cookie: cookie[agentDef]()} }

func createAgent(crowd api.ID, def ptr[agentDef], agent ptr[api.ID]) (err error) {
	d, out := definition(&err, "the definition", def), to(&err, "agent", agent)
	if err != nil {
		return err
	}
	a, err := api.CreateAgent(crowd, d.position, d.heading)
	if err == nil {
		*out = a
	}
	return err
}

func getRow(agent api.ID, row ptr[int32]) (err error) {
	out := to(&err, "row", row)
	if err != nil {
		return err
	}
	n, err := api.RowOf(agent)
	if err == nil {
		*out = int32(n)
	}
	return err
}

func setGoal(agent api.ID, goal ptr[api.Goal]) (err error) {
	g := to(&err, "goal", goal)
	if err != nil {
		return err
	}
	own := *g
	return api.SetGoal(agent, &own)
}

type playDef struct {
	cookie                                                                uint32
	layer, mask, maskJoint, loop, hold, additive, rootMotion, ignoreWalls int32
	blendIn, blendOut, weight, speed, start                               float32
}

func defaultPlayDef() playDef {
	return playDef{cookie: cookie[playDef](), blendIn: layer.DefaultBlend, blendOut: layer.DefaultBlend, weight: 1, speed: 1}
}

func playClip(agent, clip api.ID, def ptr[playDef]) (err error) {
	d := definition(&err, "the definition", def)
	if err != nil {
		return err
	}
	return api.PlayClip(agent, clip, api.PlayOptions{Mask: d.mask, Joint: d.maskJoint, PlayOptions: layer.PlayOptions{
		Layer: int(d.layer), Loop: flag(d.loop), Hold: flag(d.hold), In: d.blendIn, Out: d.blendOut, Weight: d.weight, Speed: d.speed,
		Start: d.start, Additive: flag(d.additive), RootMotion: flag(d.rootMotion), IgnoreWalls: flag(d.ignoreWalls)}})
}

func getClip(agent api.ID, layer int32, clip ptr[api.ID], seconds ptr[float64]) (err error) {
	ofClip, ofSeconds := to(&err, "clip", clip), to(&err, "seconds", seconds)
	if err != nil {
		return err
	}
	k, s, err := api.Playing(agent, layer)
	if err == nil {
		*ofClip, *ofSeconds = k, s
	}
	return err
}
