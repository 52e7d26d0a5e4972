# A simple body for a Skeleton that has no mesh yet: a tapered tube for each bone, skinned.
extends Reference

const SIDES = 8

static func dress(skeleton: Skeleton, color: Color) -> MeshInstance:
	var surface = SurfaceTool.new()
	surface.begin(Mesh.PRIMITIVE_TRIANGLES)
	for bone in skeleton.get_bone_count():
		var parent = skeleton.get_bone_parent(bone)
		if parent >= 0:
			_tube(surface, parent, _at_rest(skeleton, parent), _at_rest(skeleton, bone))
	surface.generate_normals()
	var material = SpatialMaterial.new()
	material.albedo_color = color
	material.roughness = 0.9
	var mesh = surface.commit()
	mesh.surface_set_material(0, material)
	var instance = MeshInstance.new()
	instance.mesh = mesh
	skeleton.add_child(instance)
	instance.skeleton = NodePath("..")
	return instance

static func _at_rest(skeleton: Skeleton, bone: int) -> Vector3:
	var at = skeleton.get_bone_rest(bone)
	while skeleton.get_bone_parent(bone) >= 0:
		bone = skeleton.get_bone_parent(bone)
		at = skeleton.get_bone_rest(bone) * at
	return at.origin

static func _tube(surface: SurfaceTool, bone: int, from: Vector3, to: Vector3):
	var way = to - from
	if way.length() < 0.01:
		return
	var along = way.normalized()
	var side = along.cross(Vector3.UP if abs(along.y) < 0.9 else Vector3.RIGHT).normalized()
	var radius = clamp(0.35 * way.length(), 0.015, 0.075)
	var rings = [from - along * radius * 0.5, from + way * 0.25, to, to + along * radius * 0.4]
	var radii = [0.3 * radius, radius, 0.7 * radius, 0.2 * radius]
	for r in rings.size() - 1:
		for s in SIDES:
			var a = side.rotated(along, TAU * s / SIDES)
			var b = side.rotated(along, TAU * (s + 1) / SIDES)
			for corner in [rings[r] + a * radii[r], rings[r + 1] + b * radii[r + 1], rings[r + 1] + a * radii[r + 1],
					rings[r] + a * radii[r], rings[r] + b * radii[r], rings[r + 1] + b * radii[r + 1]]:
				surface.add_bones(PoolIntArray([bone, 0, 0, 0]))
				surface.add_weights(PoolRealArray([1, 0, 0, 0]))
				surface.add_vertex(corner)
