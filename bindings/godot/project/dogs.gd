# Ten dogs on hills. Seven are steered as with a stick, one goes to a place, one walks against a wall, one sits.
extends Spatial

const Crowd = preload("res://addons/mannequin/crowd.gdns")
const Body = preload("res://addons/mannequin/body.gd")

const COUNT = 10
const PLACE = Vector3(5.5, 0, -4)
const WALL = -2.0

var crowd
var dogs = [] # agents
var skeletons = []

func _ready():
	crowd = Crowd.new()
	add_child(crowd)
	var file = File.new()
	if file.open("res://dog-free.safetensors", File.READ) != OK or not crowd.open(file.get_buffer(file.get_len()), COUNT):
		get_tree().quit(1)
		return
	_hills()
	for i in COUNT:
		var skeleton = Skeleton.new()
		add_child(skeleton)
		skeletons.append(skeleton)
		dogs.append(crowd.add(skeleton, Vector3(1.2 * i - 5.4, 0, 0), 0))
		Body.dress(skeleton, Color.from_hsv(0.04 + 0.012 * i, 0.6, 0.75))
	for i in 7:
		crowd.steer(dogs[i], Vector3(0, 0, -1), Vector3.ZERO, 1.0)
	crowd.go_to(dogs[7], PLACE, 0.5, 1.2)
	crowd.steer(dogs[8], Vector3(0, 0, -1), Vector3.ZERO, 1.0)
	crowd.set_body(dogs[8], _controller())
	_wall(Vector3(4.2, 0, WALL))
	crowd.act(dogs[9], "sit")

func _physics_process(delta):
	crowd.step(delta)
	crowd.pose()

static func height(x, z):
	return 0.15 * sin(0.9 * x) * cos(0.5 * z)

# The ground, for the eyes and for the dogs.
func _hills():
	var surface = SurfaceTool.new()
	surface.begin(Mesh.PRIMITIVE_TRIANGLES)
	var size = 0.5
	for i in range(-40, 40):
		for k in range(-40, 40):
			for corner in [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]]:
				var x = size * (i + corner[0])
				var z = size * (k + corner[1])
				surface.add_vertex(Vector3(x, height(x, z), z))
	surface.index()
	surface.generate_normals()
	var mesh = surface.commit()
	var ground = MeshInstance.new()
	ground.mesh = mesh
	var material = SpatialMaterial.new()
	material.albedo_color = Color(0.36, 0.5, 0.3)
	material.roughness = 1
	ground.material_override = material
	add_child(ground)
	var arrays = mesh.surface_get_arrays(0)
	crowd.set_ground(arrays[Mesh.ARRAY_VERTEX], arrays[Mesh.ARRAY_INDEX])

# A character controller. Its shape is above the ground that it walks on.
func _controller():
	var body = KinematicBody.new()
	var shape = CollisionShape.new()
	shape.shape = SphereShape.new()
	shape.shape.radius = 0.3
	shape.translation = Vector3(0, 0.5, 0)
	body.add_child(shape)
	add_child(body)
	return body

func _wall(at):
	var wall = StaticBody.new()
	var shape = CollisionShape.new()
	shape.shape = BoxShape.new()
	shape.shape.extents = Vector3(0.5, 1, 0.1)
	wall.add_child(shape)
	var looks = MeshInstance.new()
	looks.mesh = CubeMesh.new()
	looks.mesh.size = Vector3(1, 2, 0.2)
	wall.add_child(looks)
	wall.translation = at
	add_child(wall)
