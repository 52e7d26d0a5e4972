//go:build cgo || wasip1

package main

import (
	"mannequin/cmd/libmannequin/internal/api"
	"mannequin/engine/m3"
	"mannequin/terrain"
)

// most bounds the values of an array of the host's.
const most = 3 * terrain.MaxTriangles

type worldDef struct {
	cookie       uint32
	space        api.Space
	groundHeight float32
	maxTicks     int32
}

func defaultWorldDef() worldDef {
	return worldDef{cookie: cookie[worldDef](), space: api.Own, maxTicks: 8}
}

func createWorld(def ptr[worldDef], world ptr[api.ID]) (err error) {
	d, out := definition(&err, "the definition", def), to(&err, "world", world)
	if err != nil {
		return err
	}
	w, err := api.CreateWorld(api.WorldOptions{Space: d.space, GroundHeight: d.groundHeight, MaxTicks: int(d.maxTicks)})
	if err == nil {
		*out = w
	}
	return err
}

func step(world api.ID, seconds float64, ticks ptr[int32], alpha ptr[float32]) (err error) {
	ofTicks, ofAlpha := optional(&err, "ticks", ticks), optional(&err, "alpha", alpha)
	if err != nil {
		return err
	}
	n, a, err := api.Step(world, seconds)
	if ofTicks != nil {
		*ofTicks = int32(n)
	}
	if ofAlpha != nil && err == nil {
		*ofAlpha = a
	}
	return err
}

func setGroundMesh(world api.ID, vertices ptr[m3.Vec3], vertexCount int32, indices ptr[int32], indexCount int32) (err error) {
	v, i := array(&err, "vertices", vertices, vertexCount, most), array(&err, "indices", indices, indexCount, most)
	if err != nil {
		return err
	}
	return api.SetGroundMesh(world, v, i)
}

type groundQuery struct{ position m3.Vec3 }

type groundHit struct{ position, normal m3.Vec3 }

func setObstacles(world api.ID, obstacles ptr[api.Obstacle], count int32) (err error) {
	all := array(&err, "obstacles", obstacles, count, most)
	if err != nil {
		return err
	}
	return api.SetObstacles(world, all)
}

func save(world api.ID, bytes address, capacity uint64, size ptr[length]) (err error) {
	dst, out := memory(&err, "bytes", bytes, capacity), to(&err, "size", size)
	if err != nil {
		return err
	}
	n, err := api.Save(world, dst)
	if code := api.CodeOf(err); code == api.OK || code == api.Size {
		*out = length(n)
	}
	return err
}

func restore(world api.ID, bytes address, size uint64) (err error) {
	src := memory(&err, "bytes", bytes, size)
	if err != nil {
		return err
	}
	return api.Restore(world, src)
}
