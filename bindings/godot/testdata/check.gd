# Runs the scene with the dogs and prints what the test looks at, a line of JSON each.
extends "res://dogs.gd"

const FRAMES = 360

var frame = 0

func _ready():
	var rest = {}
	var skeleton = skeletons[0]
	for bone in skeleton.get_bone_count():
		var parent = skeleton.get_bone_parent(bone)
		rest[skeleton.get_bone_name(bone)] = {
			"parent": skeleton.get_bone_name(parent) if parent >= 0 else "",
			"length": skeleton.get_bone_rest(bone).origin.length(),
		}
	print(to_json({"rest": rest}))
	print(to_json({"refused": _refused(), "other": _other_skeleton(), "gone": _gone()}))

func _physics_process(_delta):
	frame += 1
	if frame % 4 == 0:
		var all = []
		for i in COUNT:
			all.append(_seen(skeletons[i], crowd.root(dogs[i]), crowd.moved(dogs[i])))
		print(to_json({"frame": frame, "dogs": all}))
	if frame == FRAMES:
		get_tree().quit()

func _seen(skeleton, root, moved):
	var bones = {}
	var shift = 0.0 # of joints from where they rest, beside the first
	for bone in skeleton.get_bone_count():
		if skeleton.get_bone_parent(bone) >= 0:
			shift = max(shift, skeleton.get_bone_pose(bone).origin.length())
		var at = skeleton.global_transform * skeleton.get_bone_global_pose(bone).origin
		bones[skeleton.get_bone_name(bone)] = [at.x, at.y, at.z, at.y - height(at.x, at.z)]
	return {"root": [root.origin.x, root.origin.y, root.origin.z], "ahead": [-root.basis.z.x, -root.basis.z.y, -root.basis.z.z],
			"moved": [moved.x, moved.y, moved.z], "bones": bones, "shift": shift}

func _open(capacity):
	var other = Crowd.new()
	add_child(other)
	var file = File.new()
	file.open("res://dog-free.safetensors", File.READ)
	other.open(file.get_buffer(file.get_len()), capacity)
	return other

# What the crowd must refuse: all are false, 0 or null.
func _refused():
	var closed = Crowd.new()
	var answers = [closed.open(PoolByteArray([1, 2, 3]), 1), closed.step(0.1) >= 0, closed.pose()]
	closed.free()
	return answers + [crowd.add(null, Vector3.ZERO, 0), crowd.add(Spatial.new(), Vector3.ZERO, 0), crowd.add(Skeleton.new(), Vector3.ZERO, 0),
			crowd.steer(123, Vector3.ZERO, Vector3.ZERO, 1), crowd.steer(dogs[0], Vector3(NAN, 0, 0), Vector3.ZERO, 1), crowd.act(dogs[0], "fly"),
			crowd.set_body(dogs[0], Spatial.new()), crowd.root(0), crowd.moved(-1), crowd.step() >= 0, crowd.remove(77)]

# The largest distance between the bones of two dogs that do the same, of which one has a Skeleton of the game's, with other rests
# and with bones in another order.
func _other_skeleton():
	var other = _open(2)
	var a = Skeleton.new()
	var b = Skeleton.new()
	add_child(a)
	add_child(b)
	var agents = [other.add(a, Vector3.ZERO, 1), 0]
	b.add_bone("of the game")
	for bone in a.get_bone_count():
		b.add_bone(a.get_bone_name(bone))
		b.set_bone_parent(bone + 1, a.get_bone_parent(bone) + 1)
		b.set_bone_rest(bone + 1, a.get_bone_rest(bone) * Transform(Basis(Vector3(1, 2, 3).normalized(), 0.1 * bone), Vector3.ZERO))
	agents[1] = other.add(b, Vector3.ZERO, 1)
	var worst = 0.0
	for i in 60:
		for agent in agents:
			other.steer(agent, Vector3(1, 0, 0), Vector3.ZERO, 1.5)
		other.step(1.0 / 60)
		other.pose()
		for bone in a.get_bone_count():
			var to = b.get_bone_global_pose(b.find_bone(a.get_bone_name(bone)))
			worst = max(worst, (a.global_transform * a.get_bone_global_pose(bone).origin).distance_to(b.global_transform * to.origin))
	return worst

# Agents go with their Skeletons, and when they are removed: there is room again.
func _gone():
	var other = _open(1)
	var answers = []
	for i in 3:
		var skeleton = Skeleton.new()
		add_child(skeleton)
		var agent = other.add(skeleton, Vector3.ZERO, 0)
		answers.append(agent != 0 and other.step(0.1) == 6 and other.pose())
		if i == 1:
			answers.append(other.remove(agent))
		skeleton.free()
		answers.append(other.step(0.1) == 6 and other.pose() and other.root(agent) == null)
	return answers
