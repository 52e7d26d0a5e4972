"""mannequin for Python, by ctypes: the functions of mannequin.h, for tools and notebooks.

    import mannequin
    dog = mannequin.Model(open("dog-free.safetensors", "rb").read())
    world = mannequin.World()
    crowd = world.crowd(dog, 100)
    agent = crowd.spawn((0, 0, 0), 0)
    agent.goal(move=(0, 0, 1), speed=1.5)
    for _ in range(60):
        world.tick()
    x, y, z = crowd.bones()[0:3]

The library is libmannequin.so beside this file, on the path of the system's loader, or what the environment's MANNEQUIN_LIBRARY
names. Bones are an array of floats in rows of seven, by agent and joint: numpy.frombuffer(bones, "f4").reshape(-1, joints, 7) is
the same memory. A save is bytes.
"""

import array
import ctypes
import os
import sys
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_float, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

_FILE = {"win32": "mannequin.dll", "darwin": "libmannequin.dylib"}.get(sys.platform, "libmannequin.so")
_beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _FILE)
_lib = ctypes.CDLL(os.environ.get("MANNEQUIN_LIBRARY") or (_beside if os.path.exists(_beside) else _FILE))

NAME = 64

GOAL_DIRECTION, GOAL_STICK, GOAL_PLACE = range(3)
IDLE, MOVE, JUMP, SIT, LIE, STAND = range(6)
NONE, UNITY, UNREAL, GODOT, BLENDER = range(5)
LEFT, RIGHT = range(2)
WORLD, ROOT, LOCAL = range(3)
FOOT_DOWN, FOOT_UP, CLIP_MARKER, CLIP_END, HAND_THERE, FOOT_THERE, HAND_MISSED = range(7)
MASK_ALL, MASK_UPPER_BODY, MASK_ARMS, MASK_HEAD, MASK_TAIL, MASK_JOINT = range(6)
ERROR_SIZE = 4


class Id(Structure):
    _fields_ = [("index1", c_uint32), ("generation", c_uint32)]


class Vec3(Structure):
    _fields_ = [("x", c_float), ("y", c_float), ("z", c_float)]

    def __iter__(self):
        return iter((self.x, self.y, self.z))


class Quat(Structure):
    _fields_ = [("x", c_float), ("y", c_float), ("z", c_float), ("w", c_float)]


class Version(Structure):
    _fields_ = [("major", c_int32), ("minor", c_int32), ("revision", c_int32)]


class Space(Structure):
    _fields_ = [("right", c_int32), ("up", c_int32), ("forward", c_int32), ("units", c_float)]


class ModelInfo(Structure):
    _fields_ = [("kind", c_int32), ("joints", c_int32), ("legs", c_int32), ("topSpeed", c_float), ("name", c_char * NAME), ("license", c_char * NAME)]


class Joint(Structure):
    _fields_ = [("name", c_char * NAME), ("parent", c_int32), ("offset", Vec3)]


class Marker(Structure):
    _fields_ = [("name", c_char_p), ("seconds", c_float)]


class ClipDef(Structure):
    _fields_ = [
        ("cookie", c_uint32), ("name", c_char_p), ("bytes", c_char_p), ("size", c_size_t), ("animation", c_char_p), ("rotations", POINTER(Quat)),
        ("positions", POINTER(Vec3)), ("frames", c_int32), ("framesPerSecond", c_float), ("space", Space), ("markers", POINTER(Marker)),
        ("markerCount", c_int32), ("reference", c_int32),
    ]


class PlayDef(Structure):
    _fields_ = [
        ("cookie", c_uint32), ("layer", c_int32), ("mask", c_int32), ("maskJoint", c_int32), ("loop", c_int32), ("hold", c_int32), ("additive", c_int32),
        ("rootMotion", c_int32), ("ignoreWalls", c_int32), ("blendIn", c_float), ("blendOut", c_float), ("weight", c_float), ("speed", c_float), ("start", c_float),
    ]


class WorldDef(Structure):
    _fields_ = [("cookie", c_uint32), ("space", Space), ("groundHeight", c_float), ("maxTicks", c_int32)]


class GroundQuery(Structure):
    _fields_ = [("position", Vec3)]


class GroundHit(Structure):
    _fields_ = [("position", Vec3), ("normal", Vec3)]


class CrowdDef(Structure):
    _fields_ = [("cookie", c_uint32), ("model", Id), ("every2", Id), ("every4", Id), ("capacity", c_int32), ("workers", c_int32)]


class AgentDef(Structure):
    _fields_ = [("cookie", c_uint32), ("position", Vec3), ("heading", c_float)]


class Goal(Structure):
    _fields_ = [
        ("kind", c_int32), ("action", c_int32), ("move", Vec3), ("face", Vec3), ("place", Vec3), ("radius", c_float), ("speed", c_float), ("turn", c_float),
    ]


class Obstacle(Structure):
    _fields_ = [
        ("position", Vec3), ("heading", c_float), ("width", c_float), ("depth", c_float), ("rounding", c_float), ("low", c_float), ("high", c_float),
    ]


class BoneLayout(Structure):
    _fields_ = [
        ("cookie", c_uint32), ("relativeTo", c_int32), ("format", c_int32), ("boneStride", c_int32), ("agentStride", c_int32), ("positionOffset", c_int32),
        ("rotationOffset", c_int32), ("realFirst", c_int32),
    ]


class Root(Structure):
    _fields_ = [("agent", Id), ("position", Vec3), ("heading", c_float), ("moved", Vec3), ("turned", c_float)]


class Event(Structure):
    _fields_ = [
        ("agent", Id), ("kind", c_int32), ("tick", c_int32), ("leg", c_int32), ("joint", c_int32), ("layer", c_int32), ("marker", c_int32), ("clip", Id),
        ("position", Vec3), ("normal", Vec3), ("speed", c_float),
    ]


GroundFunction = ctypes.CFUNCTYPE(None, POINTER(GroundQuery), POINTER(GroundHit), c_void_p)


class Error(Exception):
    """An error of the library, with the code of its mqResult."""

    def __init__(self, code):
        text = ctypes.create_string_buffer(_lib.mqGetLastError(None, 0) + 1)
        _lib.mqGetLastError(text, len(text))
        super().__init__(text.value.decode("utf-8", "replace"))
        self.code = code


def _check(result, *_):
    if result:
        raise Error(result)


def _function(name, *arguments):
    f = getattr(_lib, name)
    f.argtypes, f.restype, f.errcheck = arguments, c_int32, _check
    return f


def _value(name, result, *arguments):
    f = getattr(_lib, name)
    f.argtypes, f.restype = arguments, result
    return f


_lib.mqGetLastError.argtypes, _lib.mqGetLastError.restype = (c_char_p, c_int32), c_int32
version = _value("mqGetVersion", Version)
space = _value("mqGetSpace", Space, c_int32)
world_def = _value("mqDefaultWorldDef", WorldDef)
crowd_def = _value("mqDefaultCrowdDef", CrowdDef)
_agent_def = _value("mqDefaultAgentDef", AgentDef)
clip_def = _value("mqDefaultClipDef", ClipDef)
play_def = _value("mqDefaultPlayDef", PlayDef)
bone_layout = _value("mqDefaultBoneLayout", BoneLayout)
_create_model = _function("mqCreateModel", c_char_p, c_size_t, POINTER(Id))
_get_info = _function("mqModel_GetInfo", Id, POINTER(ModelInfo))
_get_joint = _function("mqModel_GetJoint", Id, c_int32, POINTER(Space), POINTER(Joint))
_find_action = _function("mqModel_FindAction", Id, c_char_p, POINTER(c_int32))
_create_clip = _function("mqCreateClip", Id, POINTER(ClipDef), POINTER(Id))
_create_world = _function("mqCreateWorld", POINTER(WorldDef), POINTER(Id))
_tick = _function("mqWorld_Tick", Id)
_step = _function("mqWorld_Step", Id, c_double, POINTER(c_int32), POINTER(c_float))
_ground_level = _function("mqWorld_SetGroundLevel", Id, c_float)
_ground_mesh = _function("mqWorld_SetGroundMesh", Id, POINTER(Vec3), c_int32, POINTER(c_int32), c_int32)
_ground_callback = _function("mqWorld_SetGroundCallback", Id, GroundFunction, c_void_p)
_obstacles = _function("mqWorld_SetObstacles", Id, POINTER(Obstacle), c_int32)
_save = _value("mqWorld_Save", c_int32, Id, c_char_p, c_size_t, POINTER(c_size_t))
_restore = _function("mqWorld_Restore", Id, c_char_p, c_size_t)
_create_crowd = _function("mqCreateCrowd", Id, POINTER(CrowdDef), POINTER(Id))
_get_agents = _function("mqCrowd_GetAgents", Id, POINTER(Id), c_int32, POINTER(c_int32))
_set_goals = _function("mqCrowd_SetGoals", Id, POINTER(Goal), c_int32, c_int32)
_get_bones = _function("mqCrowd_GetBones", Id, POINTER(BoneLayout), c_float, c_void_p, c_size_t, POINTER(c_int32))
_get_roots = _function("mqCrowd_GetRoots", Id, c_float, POINTER(Root), c_int32, c_int32, POINTER(c_int32))
_get_events = _function("mqCrowd_GetEvents", Id, POINTER(Event), c_int32, POINTER(c_int32))
_get_hash = _function("mqCrowd_GetHash", Id, POINTER(c_uint64))
_create_agent = _function("mqCreateAgent", Id, POINTER(AgentDef), POINTER(Id))
_destroy_agent = _function("mqDestroyAgent", Id)
_get_row = _function("mqAgent_GetRow", Id, POINTER(c_int32))
_set_goal = _function("mqAgent_SetGoal", Id, POINTER(Goal))
_set_place = _function("mqAgent_SetPlace", Id, Vec3, c_float)
_look_at = _function("mqAgent_SetLookAt", Id, Vec3, c_float)
_hand = _function("mqAgent_SetHand", Id, c_int32, Vec3, c_float, c_float)
_play = _function("mqAgent_PlayClip", Id, Id, POINTER(PlayDef))
_stop = _function("mqAgent_StopClip", Id, c_int32, c_float)


def goal(kind=GOAL_DIRECTION, action=IDLE, move=(0, 0, 0), face=(0, 0, 0), place=(0, 0, 0), radius=0, speed=0, turn=0):
    return Goal(kind, action, Vec3(*move), Vec3(*face), Vec3(*place), radius, speed, turn)


class _Owner:
    """An id that is destroyed by close, at the end of a with, or with its object."""

    _destroy = None

    def __init__(self):
        self.id = Id()

    def close(self):
        if self.id.index1:
            self._destroy(self.id)
            self.id = Id()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Error:
            pass  # its world was closed before


class Model(_Owner):
    _destroy = staticmethod(_function("mqDestroyModel", Id))

    def __init__(self, data):
        super().__init__()
        _create_model(data, len(data), byref(self.id))
        self.info = ModelInfo()
        _get_info(self.id, byref(self.info))

    def joints(self, space=None):
        """The joints as (name, parent, offset)."""
        out, joint = [], Joint()
        for i in range(self.info.joints):
            _get_joint(self.id, i, byref(space) if space else None, byref(joint))
            out.append((joint.name.decode(), joint.parent, tuple(joint.offset)))
        return out

    def action(self, name):
        a = c_int32()
        _find_action(self.id, name.encode(), byref(a))
        return a.value


class Clip(_Owner):
    _destroy = staticmethod(_function("mqDestroyClip", Id))

    def __init__(self, model, definition):
        super().__init__()
        _create_clip(model.id, byref(definition), byref(self.id))


class Agent:
    def __init__(self, id):
        self.id = id

    def destroy(self):
        _destroy_agent(self.id)

    @property
    def row(self):
        row = c_int32()
        _get_row(self.id, byref(row))
        return row.value

    def goal(self, **what):
        _set_goal(self.id, byref(goal(**what)))

    def place(self, position, heading):
        _set_place(self.id, Vec3(*position), heading)

    def look_at(self, target, weight=1):
        _look_at(self.id, Vec3(*target), weight)

    def hand(self, side, target, weight=1, seconds=0):
        _hand(self.id, side, Vec3(*target), weight, seconds)

    def play(self, clip, definition=None):
        _play(self.id, clip.id, byref(definition or play_def()))

    def stop(self, layer, seconds=0):
        _stop(self.id, layer, seconds)


class Crowd(_Owner):
    _destroy = staticmethod(_function("mqDestroyCrowd", Id))

    def __init__(self, world, definition, joints):
        super().__init__()
        self.joints, self.world = joints, world  # a world lives as long as its crowds
        _create_crowd(world.id, byref(definition), byref(self.id))

    def spawn(self, position, heading):
        definition = _agent_def()
        definition.position, definition.heading = Vec3(*position), heading
        id = Id()
        _create_agent(self.id, byref(definition), byref(id))
        return Agent(id)

    def _all(self, get, kind, *before):
        n = c_int32()
        get(self.id, *before, None, *((0,) if get is _get_roots else ()), 0, byref(n))
        out = (kind * n.value)()
        get(self.id, *before, out, *((0,) if get is _get_roots else ()), n, byref(n))
        return out

    def __len__(self):
        n = c_int32()
        _get_agents(self.id, None, 0, byref(n))
        return n.value

    def agents(self):
        """The agents by row."""
        return [Agent(Id(a.index1, a.generation)) for a in self._all(_get_agents, Id)]

    def goals(self, goals):
        """Sets a goal for each row."""
        _set_goals(self.id, (Goal * len(goals))(*goals), len(goals), 0)

    def bones(self, alpha=1, relative_to=WORLD):
        layout = bone_layout()
        layout.relativeTo = relative_to
        out = array.array("f", bytes(28 * self.joints * len(self)))
        _get_bones(self.id, byref(layout), alpha, out.buffer_info()[0], 4 * len(out), None)
        return out

    def roots(self, alpha=1):
        return self._all(_get_roots, Root, alpha)

    def events(self):
        return self._all(_get_events, Event)

    def hash(self):
        h = c_uint64()
        _get_hash(self.id, byref(h))
        return h.value


class World(_Owner):
    _destroy = staticmethod(_function("mqDestroyWorld", Id))

    def __init__(self, definition=None):
        super().__init__()
        self._ground = None
        _create_world(byref(definition or world_def()), byref(self.id))

    def crowd(self, model, capacity, workers=0):
        definition = crowd_def()
        definition.model, definition.capacity, definition.workers = model.id, capacity, workers
        return Crowd(self, definition, model.info.joints)

    def tick(self):
        _tick(self.id)

    def step(self, seconds):
        """Moves on by the time of a frame. Returns the number of ticks and alpha."""
        ticks, alpha = c_int32(), c_float()
        _step(self.id, seconds, byref(ticks), byref(alpha))
        return ticks.value, alpha.value

    def ground_level(self, height):
        _ground_level(self.id, height)

    def ground_mesh(self, vertices, indices):
        _ground_mesh(self.id, (Vec3 * len(vertices))(*(Vec3(*v) for v in vertices)), len(vertices), (c_int32 * len(indices))(*indices), len(indices))

    def ground(self, f):
        """f gets a place, and returns a point of the ground and its normal. Give crowds workers=1: Python has one lock for all threads."""

        def call(query, hit, _):
            point, normal = f(tuple(query[0].position))
            hit[0].position, hit[0].normal = Vec3(*point), Vec3(*normal)

        callback = GroundFunction(call)
        _ground_callback(self.id, callback, None)
        self._ground = callback  # until another one is set

    def obstacles(self, all):
        _obstacles(self.id, (Obstacle * len(all))(*all), len(all))

    def save(self):
        size = c_size_t()
        result = _save(self.id, None, 0, byref(size))
        if result != ERROR_SIZE:
            _check(result)
        out = ctypes.create_string_buffer(size.value)
        _check(_save(self.id, out, len(out), byref(size)))
        return out.raw[: size.value]

    def restore(self, save):
        _restore(self.id, save, len(save))
