// The class MannequinCrowd for Godot 3: agents of one model, whose bones it writes into Skeleton nodes. docs/engines.md says how
// to use it.
//
// Errors are printed to Godot's console, and the method returns false, 0 or null. An agent is an int that scripts keep.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdnative.h"
#include "mannequin.h"

// What Godot hands over.
#define FIELD(place, result, name, parameters) result (*name) parameters;
static struct {
	GD_CORE(FIELD)
	GD_CORE_1_2(FIELD)
} gd;
static struct { GD_NATIVESCRIPT(FIELD) } script;

// Methods of Godot's classes.
static struct {
	gdMethodBind *getInstanceId, *isClass, *addBone, *findBone, *boneCount, *setParent, *setRest, *getRest, *setPose;
	gdMethodBind *setTransform, *getTransform, *moveAndSlide, *physicsDelta;
} call;

// An agent and the nodes that it moves.
typedef struct Puppet {
	mqAgentId agent;
	int64_t skeleton; // id of the Skeleton; nodes can go away at any time
	int64_t body;     // id of a KinematicBody; 0: none
	int32_t* bones;   // (joints) of the Skeleton
} Puppet;

typedef struct Crowd {
	mqModelId model;
	mqWorldId world;
	mqCrowdId crowd;
	mqModelInfo info;
	int32_t capacity, count;
	float alpha;      // of the last step
	Puppet* puppets;  // (capacity)
	mqRoot* roots;    // (capacity)
	float* bones;     // (capacity, joints, 12)
	size_t bonesSize; // in bytes
} Crowd;

static void complain(const char* text, const char* function) {
	gd.print_error(text, function, "mannequin_godot.c", 0);
}

// ok prints the error of a failed call.
static bool ok(mqResult result, const char* function) {
	if (result == mq_ok)
		return true;
	char text[1024];
	mqGetLastError(text, sizeof text);
	complain(text, function);
	return false;
}

// Values.

static gdVariant nothing(void) {
	gdVariant v;
	gd.variant_new_nil(&v);
	return v;
}

static gdVariant truth(bool b) {
	gdVariant v;
	gd.variant_new_bool(&v, b);
	return v;
}

static gdVariant number(int64_t i) {
	gdVariant v;
	gd.variant_new_int(&v, i);
	return v;
}

static mqVec3 vector(const gdVariant* v) {
	gdVector3 from = gd.variant_as_vector3(v);
	mqVec3 to;
	memcpy(&to, &from, sizeof to);
	return to;
}

// A transform of 12 floats as the library writes it, row by row, as Godot has it.
static gdTransform transform(const float* rows) {
	gdTransform t;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 3; k++)
			t.rows[i][k] = rows[4 * i + k];
		t.origin[i] = rows[4 * i + 3];
	}
	return t;
}

// The transform of a place on the ground and a turn about +Y.
static gdTransform standing(const mqRoot* root) {
	float c = cosf(root->heading), s = sinf(root->heading);
	return (gdTransform){ { { c, 0, s }, { 0, 1, 0 }, { -s, 0, c } }, { root->position.x, root->position.y, root->position.z } };
}

// The inverse of a rotation and a move, times another transform.
static gdTransform relativeTo(const gdTransform* base, const gdTransform* t) {
	gdTransform r;
	for (int i = 0; i < 3; i++) {
		r.origin[i] = 0;
		for (int k = 0; k < 3; k++) {
			r.origin[i] += base->rows[k][i] * (t->origin[k] - base->origin[k]);
			r.rows[i][k] = base->rows[0][i] * t->rows[0][k] + base->rows[1][i] * t->rows[1][k] + base->rows[2][i] * t->rows[2][k];
		}
	}
	return r;
}

// Agents are ints of scripts.

static int64_t toInt(mqAgentId id) { return (int64_t)id.generation << 32 | id.index1; }

static mqAgentId fromInt(const gdVariant* v) {
	int64_t i = gd.variant_as_int(v);
	return (mqAgentId){ (uint32_t)i, (uint32_t)(i >> 32) };
}

static bool same(mqAgentId a, mqAgentId b) { return a.index1 == b.index1 && a.generation == b.generation; }

// The puppet of an agent, most likely the hint-th; null if there is none.
static Puppet* find(const Crowd* c, mqAgentId agent, int hint) {
	if (hint < c->count && same(c->puppets[hint].agent, agent))
		return &c->puppets[hint];
	for (int i = 0; i < c->count; i++)
		if (same(c->puppets[i].agent, agent))
			return &c->puppets[i];
	return NULL;
}

// The puppet that a script names; null, with an error printed, if there is none.
static Puppet* puppet(const Crowd* c, const gdVariant* agent, const char* function) {
	Puppet* p = find(c, fromInt(agent), 0);
	if (!p)
		complain("The crowd has no such agent.", function);
	return p;
}

// Godot's objects.

static gdObject* node(int64_t id) { return id ? gd.instance_from_id((int)id) : NULL; }

static int64_t idOf(gdObject* object) {
	int64_t id = 0;
	gd.method_bind_ptrcall(call.getInstanceId, object, NULL, &id);
	return id;
}

static bool isA(gdObject* object, const char* class) {
	bool is = false;
	gdString name = gd.string_chars_to_utf8(class);
	if (object)
		gd.method_bind_ptrcall(call.isClass, object, (const void*[]){ &name }, &is);
	gd.string_destroy(&name);
	return is;
}

static int64_t findBone(gdObject* skeleton, const char* joint) {
	int64_t bone;
	gdString name = gd.string_chars_to_utf8(joint);
	gd.method_bind_ptrcall(call.findBone, skeleton, (const void*[]){ &name }, &bone);
	gd.string_destroy(&name);
	return bone;
}

// bind notes which bone of a Skeleton is which joint. A Skeleton without bones gets those of the model.
static bool bind(const Crowd* c, gdObject* skeleton, int32_t* bones, const char* function) {
	mqSpace space = mqGetSpace(mq_engineGodot);
	int64_t count;
	gd.method_bind_ptrcall(call.boneCount, skeleton, NULL, &count);
	for (int32_t i = 0; i < c->info.joints; i++) {
		mqJoint joint;
		if (!ok(mqModel_GetJoint(c->model, i, &space, &joint), function))
			return false;
		if (count == 0) {
			gdString name = gd.string_chars_to_utf8(joint.name);
			int64_t bone = i, parent = joint.parent;
			gdTransform rest = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, { joint.offset.x, joint.offset.y, joint.offset.z } };
			gd.method_bind_ptrcall(call.addBone, skeleton, (const void*[]){ &name }, NULL);
			if (parent >= 0)
				gd.method_bind_ptrcall(call.setParent, skeleton, (const void*[]){ &bone, &parent }, NULL);
			gd.method_bind_ptrcall(call.setRest, skeleton, (const void*[]){ &bone, &rest }, NULL);
			gd.string_destroy(&name);
		}
		bones[i] = (int32_t)findBone(skeleton, joint.name);
		if (bones[i] < 0) {
			char text[128];
			snprintf(text, sizeof text, "The Skeleton has bones, but none has the name %s.", joint.name);
			complain(text, function);
			return false;
		}
	}
	return true;
}

// The class.

static void* create(gdObject* instance, void* data) {
	(void)instance, (void)data;
	return calloc(1, sizeof(Crowd));
}

static void closeCrowd(Crowd* c) {
	if (!MQ_IS_NULL(c->world))
		mqDestroyWorld(c->world);
	if (!MQ_IS_NULL(c->model))
		mqDestroyModel(c->model);
	for (int32_t i = 0; i < c->count; i++)
		free(c->puppets[i].bones);
	free(c->puppets);
	free(c->roots);
	free(c->bones);
	*c = (Crowd){ 0 };
}

static void destroy(gdObject* instance, void* data, void* user) {
	(void)instance, (void)data;
	closeCrowd(user);
	free(user);
}

#define METHOD(name) static gdVariant name(gdObject* self, void* data, void* user, int count, gdVariant** args)

// Begins a method: c is its crowd.
#define BEGIN(parameters, otherwise) \
	(void)self, (void)data, (void)args; \
	Crowd* c = user; \
	(void)c; \
	if (count != (parameters)) { \
		complain("Wrong number of arguments: want " #parameters ".", __func__); \
		return (otherwise); \
	}

static void move(mqCrowdId crowd, mqMove* moves, int32_t count, void* context);

// open(bytes: PoolByteArray, capacity: int) -> bool
METHOD(open) {
	BEGIN(2, truth(false));
	closeCrowd(c);
	mqCrowdDef def = mqDefaultCrowdDef();
	gdPoolArray bytes = gd.variant_as_pool_byte_array(args[0]);
	gdReadAccess* access = gd.pool_byte_array_read(&bytes);
	mqWorldDef world = mqDefaultWorldDef();
	world.space = mqGetSpace(mq_engineGodot);
	bool good = ok(mqCreateModel(gd.pool_byte_array_read_access_ptr(access), (size_t)gd.pool_byte_array_size(&bytes), &c->model), __func__) &&
	            ok(mqModel_GetInfo(c->model, &c->info), __func__) && ok(mqCreateWorld(&world, &c->world), __func__);
	gd.pool_byte_array_read_access_destroy(access);
	gd.pool_byte_array_destroy(&bytes);
	def.model = c->model;
	int64_t capacity = gd.variant_as_int(args[1]);
	def.capacity = capacity < 0 || capacity > MQ_MAX_AGENTS ? 0 : (int32_t)capacity; // 0 is refused, with a text
	if (!good || !ok(mqCreateCrowd(c->world, &def, &c->crowd), __func__) || !ok(mqWorld_SetMoveCallback(c->world, move, c), __func__)) {
		closeCrowd(c);
		return truth(false);
	}
	c->capacity = def.capacity;
	c->bonesSize = (size_t)c->capacity * c->info.joints * 12 * sizeof(float);
	c->puppets = calloc(c->capacity, sizeof *c->puppets);
	c->roots = calloc(c->capacity, sizeof *c->roots);
	c->bones = malloc(c->bonesSize);
	if (!c->puppets || !c->roots || !c->bones) {
		complain("There is no memory.", __func__);
		closeCrowd(c);
		return truth(false);
	}
	return truth(true);
}

// set_ground(vertices: PoolVector3Array, indices: PoolIntArray) -> bool: three indices a triangle, clockwise seen from above, as in
// Godot's meshes.
METHOD(set_ground) {
	BEGIN(2, truth(false));
	gdPoolArray vertices = gd.variant_as_pool_vector3_array(args[0]), indices = gd.variant_as_pool_int_array(args[1]);
	gdReadAccess *readVertices = gd.pool_vector3_array_read(&vertices), *readIndices = gd.pool_int_array_read(&indices);
	int32_t n = gd.pool_int_array_size(&indices);
	const int32_t* from = gd.pool_int_array_read_access_ptr(readIndices);
	int32_t* turned = malloc((n + 1) * sizeof *turned); // the library's are counterclockwise
	for (int32_t i = 0; turned && i < n; i++)
		turned[n - 1 - i] = from[i];
	bool good = turned && ok(mqWorld_SetGroundMesh(c->world, (const mqVec3*)gd.pool_vector3_array_read_access_ptr(readVertices),
	                             gd.pool_vector3_array_size(&vertices), turned, n), __func__);
	free(turned);
	gd.pool_int_array_read_access_destroy(readIndices);
	gd.pool_vector3_array_read_access_destroy(readVertices);
	gd.pool_int_array_destroy(&indices);
	gd.pool_vector3_array_destroy(&vertices);
	return truth(good);
}

// add(skeleton: Skeleton, position: Vector3, heading: float) -> int: the new agent, or 0
METHOD(add) {
	BEGIN(3, number(0));
	gdObject* skeleton = gd.variant_as_object(args[0]);
	if (!isA(skeleton, "Skeleton")) {
		complain("The first argument is no Skeleton.", __func__);
		return number(0);
	}
	mqAgentDef def = mqDefaultAgentDef();
	def.position = vector(args[1]);
	def.heading = (float)gd.variant_as_real(args[2]);
	Puppet p = { .skeleton = idOf(skeleton) };
	if (!ok(mqCreateAgent(c->crowd, &def, &p.agent), __func__))
		return number(0);
	p.bones = calloc(c->info.joints, sizeof *p.bones);
	if (!p.bones || !bind(c, skeleton, p.bones, __func__)) {
		free(p.bones);
		mqDestroyAgent(p.agent);
		return number(0);
	}
	c->puppets[c->count++] = p;
	return number(toInt(p.agent));
}

static bool drop(Crowd* c, Puppet* p, const char* function) {
	if (!ok(mqDestroyAgent(p->agent), function))
		return false;
	free(p->bones);
	*p = c->puppets[--c->count];
	return true;
}

// remove(agent: int) -> bool
METHOD(remove_agent) {
	BEGIN(1, truth(false));
	Puppet* p = puppet(c, args[0], __func__);
	return truth(p && drop(c, p, __func__));
}

// set_body(agent: int, body: KinematicBody) -> bool: the body goes where the agent goes, and the agent stops where it stops
METHOD(set_body) {
	BEGIN(2, truth(false));
	Puppet* p = puppet(c, args[0], __func__);
	gdObject* body = gd.variant_as_object(args[1]);
	if (!p)
		return truth(false);
	if (body && !isA(body, "KinematicBody")) {
		complain("The second argument is no KinematicBody.", __func__);
		return truth(false);
	}
	p->body = body ? idOf(body) : 0;
	return truth(true);
}

static gdVariant setGoal(Crowd* c, const gdVariant* agent, const mqGoal* goal, const char* function) {
	Puppet* p = puppet(c, agent, function);
	return truth(p && ok(mqAgent_SetGoal(p->agent, goal), function));
}

// steer(agent: int, direction: Vector3, face: Vector3, speed: float) -> bool: as a player's stick does
METHOD(steer) {
	BEGIN(4, truth(false));
	mqGoal goal = { .kind = mq_goalStick, .move = vector(args[1]), .face = vector(args[2]), .speed = (float)gd.variant_as_real(args[3]) };
	return setGoal(c, args[0], &goal, __func__);
}

// go_to(agent: int, place: Vector3, radius: float, speed: float) -> bool
METHOD(go_to) {
	BEGIN(4, truth(false));
	mqGoal goal = { .kind = mq_goalPlace, .place = vector(args[1]), .radius = (float)gd.variant_as_real(args[2]), .speed = (float)gd.variant_as_real(args[3]) };
	return setGoal(c, args[0], &goal, __func__);
}

// act(agent: int, action: String) -> bool: "sit", "lie" and what else the model knows; "idle" stands
METHOD(act) {
	BEGIN(2, truth(false));
	gdString name = gd.variant_as_string(args[1]);
	gdCharString text = gd.string_utf8(&name);
	mqGoal goal = { 0 };
	bool good = ok(mqModel_FindAction(c->model, gd.char_string_get_data(&text), &goal.action), __func__);
	gd.char_string_destroy(&text);
	gd.string_destroy(&name);
	return good ? setGoal(c, args[0], &goal, __func__) : truth(false);
}

// set_place(agent: int, position: Vector3, heading: float) -> bool: at once
METHOD(set_place) {
	BEGIN(3, truth(false));
	Puppet* p = puppet(c, args[0], __func__);
	return truth(p && ok(mqAgent_SetPlace(p->agent, vector(args[1]), (float)gd.variant_as_real(args[2])), __func__));
}

// move lets bodies go as far as they can, and agents with them.
static void move(mqCrowdId crowd, mqMove* moves, int32_t count, void* context) {
	(void)crowd;
	Crowd* c = context;
	for (int32_t i = 0; i < count; i++) {
		const Puppet* p = find(c, moves[i].agent, i);
		gdObject* body = p ? node(p->body) : NULL;
		if (!body)
			continue;
		mqMove* m = &moves[i];
		double seconds;
		gd.method_bind_ptrcall(call.physicsDelta, body, NULL, &seconds);
		gdTransform at;
		gd.method_bind_ptrcall(call.getTransform, body, NULL, &at);
		at.origin[0] = m->before.x, at.origin[1] = m->before.y, at.origin[2] = m->before.z;
		gd.method_bind_ptrcall(call.setTransform, body, (const void*[]){ &at }, NULL);
		mqVec3 velocity = { (float)((m->after.x - m->before.x) / seconds), 0, (float)((m->after.z - m->before.z) / seconds) };
		mqVec3 up = { 0, 1, 0 }, left;
		bool stopOnSlope = false, infiniteInertia = true;
		int64_t slides = 4;
		double steepest = 0.8;
		gd.method_bind_ptrcall(call.moveAndSlide, body, (const void*[]){ &velocity, &up, &stopOnSlope, &slides, &steepest, &infiniteInertia }, &left);
		gd.method_bind_ptrcall(call.getTransform, body, NULL, &at);
		m->after.x = at.origin[0], m->after.z = at.origin[2];
	}
}

// step(seconds: float) -> int: the ticks, or -1. Call it in _physics_process if agents have bodies. Agents whose Skeleton is gone
// go, too.
METHOD(step) {
	BEGIN(1, number(-1));
	for (int i = c->count - 1; i >= 0; i--)
		if (!node(c->puppets[i].skeleton))
			drop(c, &c->puppets[i], __func__);
	int32_t ticks;
	return number(ok(mqWorld_Step(c->world, gd.variant_as_real(args[0]), &ticks, &c->alpha), __func__) ? ticks : -1);
}

// pose() -> bool: moves the Skeletons to their agents and sets their bones
METHOD(pose) {
	BEGIN(0, truth(false));
	mqBoneLayout layout = mqDefaultBoneLayout();
	layout.relativeTo = mq_bonesLocal;
	layout.format = mq_formatRows3x4;
	int32_t agents;
	if (!ok(mqCrowd_GetBones(c->crowd, &layout, c->alpha, c->bones, c->bonesSize, &agents), __func__) ||
	    !ok(mqCrowd_GetRoots(c->crowd, c->alpha, c->roots, 0, c->capacity, &agents), __func__))
		return truth(false);
	for (int32_t row = 0; row < agents; row++) {
		const Puppet* p = find(c, c->roots[row].agent, row);
		gdObject* skeleton = p ? node(p->skeleton) : NULL;
		if (!skeleton)
			continue;
		gdTransform at = standing(&c->roots[row]);
		gd.method_bind_ptrcall(call.setTransform, skeleton, (const void*[]){ &at }, NULL);
		for (int32_t i = 0; i < c->info.joints; i++) {
			gdTransform rest, local = transform(&c->bones[((size_t)row * c->info.joints + i) * 12]);
			int64_t bone = p->bones[i];
			gd.method_bind_ptrcall(call.getRest, skeleton, (const void*[]){ &bone }, &rest);
			gdTransform turned = relativeTo(&rest, &local);
			gd.method_bind_ptrcall(call.setPose, skeleton, (const void*[]){ &bone, &turned }, NULL);
		}
	}
	return truth(true);
}

// rootOf writes the root of an agent that a script names.
static bool rootOf(Crowd* c, const gdVariant* agent, mqRoot* root, const char* function) {
	Puppet* p = puppet(c, agent, function);
	int32_t row, agents;
	if (!p || !ok(mqAgent_GetRow(p->agent, &row), function) || !ok(mqCrowd_GetRoots(c->crowd, c->alpha, c->roots, 0, c->capacity, &agents), function))
		return false;
	*root = c->roots[row];
	return true;
}

// root(agent: int) -> Transform: where an agent stands; null if there is none
METHOD(root) {
	BEGIN(1, nothing());
	mqRoot root;
	if (!rootOf(c, args[0], &root, __func__))
		return nothing();
	gdTransform at = standing(&root);
	gdVariant v;
	gd.variant_new_transform(&v, &at);
	return v;
}

// moved(agent: int) -> Vector3: how far the last step has moved an agent; null if there is none
METHOD(moved) {
	BEGIN(1, nothing());
	mqRoot root;
	if (!rootOf(c, args[0], &root, __func__))
		return nothing();
	gdVector3 by;
	memcpy(&by, &root.moved, sizeof by);
	gdVariant v;
	gd.variant_new_vector3(&v, &by);
	return v;
}

// What Godot calls.

// A table of the version, or null. Godot's are in a row, the oldest first.
static const gdTable* table(const gdTable* from, unsigned int major, unsigned int minor) {
	while (from && (from->version.major != major || from->version.minor != minor))
		from = from->next;
	return from;
}

GD_EXPORT void godot_gdnative_init(gdInitOptions* options) {
	const gdCore* core = options->core;
	const gdExtension *later = (const gdExtension*)table(&core->table, 1, 2), *native = NULL;
	for (unsigned int i = 0; i < core->extensionCount; i++)
		if (core->extensions[i]->type == gd_typeNativeScript)
			native = (const gdExtension*)core->extensions[i];
	if (!later || !native) {
		options->reportLoadingError(options->library, "mannequin needs Godot 3.2 or a later 3.x.");
		return;
	}
#define TAKE(place, result, name, parameters) gd.name = (result(*) parameters)core->functions[place];
	GD_CORE(TAKE)
#undef TAKE
#define TAKE(place, result, name, parameters) gd.name = (result(*) parameters)later->functions[place];
	GD_CORE_1_2(TAKE)
#undef TAKE
#define TAKE(place, result, name, parameters) script.name = (result(*) parameters)native->functions[place];
	GD_NATIVESCRIPT(TAKE)
#undef TAKE
	call.getInstanceId = gd.method_bind_get_method("Object", "get_instance_id");
	call.isClass = gd.method_bind_get_method("Object", "is_class");
	call.addBone = gd.method_bind_get_method("Skeleton", "add_bone");
	call.findBone = gd.method_bind_get_method("Skeleton", "find_bone");
	call.boneCount = gd.method_bind_get_method("Skeleton", "get_bone_count");
	call.setParent = gd.method_bind_get_method("Skeleton", "set_bone_parent");
	call.setRest = gd.method_bind_get_method("Skeleton", "set_bone_rest");
	call.getRest = gd.method_bind_get_method("Skeleton", "get_bone_rest");
	call.setPose = gd.method_bind_get_method("Skeleton", "set_bone_pose");
	call.setTransform = gd.method_bind_get_method("Spatial", "set_global_transform");
	call.getTransform = gd.method_bind_get_method("Spatial", "get_global_transform");
	call.moveAndSlide = gd.method_bind_get_method("KinematicBody", "move_and_slide");
	call.physicsDelta = gd.method_bind_get_method("Node", "get_physics_process_delta_time");
}

GD_EXPORT void godot_gdnative_terminate(gdTerminateOptions* options) { (void)options; }

GD_EXPORT void godot_nativescript_init(void* handle) {
	if (!script.register_class)
		return; // godot_gdnative_init has said why
	script.register_class(handle, "MannequinCrowd", "Node", (gdCreate){ .create = create }, (gdDestroy){ .destroy = destroy });
	static const struct {
		const char* name;
		gdVariant (*method)(gdObject*, void*, void*, int, gdVariant**);
	} methods[] = {
		{ "open", open }, { "set_ground", set_ground }, { "add", add }, { "remove", remove_agent }, { "set_body", set_body },
		{ "steer", steer }, { "go_to", go_to }, { "act", act }, { "set_place", set_place },
		{ "step", step }, { "pose", pose }, { "root", root }, { "moved", moved },
	};
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		script.register_method(handle, "MannequinCrowd", methods[i].name, 0, (gdMethod){ .method = methods[i].method });
}
