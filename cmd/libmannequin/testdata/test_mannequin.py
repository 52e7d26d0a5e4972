"""Tests of mannequin.py: test_mannequin.py MODEL, with the module's folder in PYTHONPATH."""

import math
import sys

import mannequin


def error(f, code):
    try:
        f()
    except mannequin.Error as e:
        assert e.code == code, (e.code, str(e))
        return str(e)
    raise AssertionError("no error")


with open(sys.argv[1], "rb") as f:
    dog = mannequin.Model(f.read())
assert mannequin.version().major == 1
assert dog.info.kind == 1 and dog.info.legs == 4 and dog.info.joints == 27, dog.info.joints
names = [name for name, _, _ in dog.joints()]
assert names[0] == "Hips" and "Head" in names
error(lambda: dog.action("fly"), 2)
assert dog.action("sit") == mannequin.SIT

with mannequin.World() as world:
    world.ground(lambda at: ((0, 0.1 * at[2], 0), (0, 1, -0.1)))
    crowd = world.crowd(dog, 3, workers=1)
    agent = crowd.spawn((0, 0, 0), 0)
    crowd.spawn((2, 0, 0), 0)
    agent.goal(move=(0, 0, 1), speed=1.5)
    feet = 0
    for i in range(120):
        world.tick()
        feet += sum(e.kind == mannequin.FOOT_DOWN for e in crowd.events())
    assert feet > 4, feet
    root = crowd.roots()[agent.row]
    assert 1.5 < root.position.z < 4 and math.isclose(root.position.y, 0.1 * root.position.z, abs_tol=0.05), tuple(root.position)
    save, hash = world.save(), crowd.hash()
    ticks, alpha = world.step(0.025)
    assert ticks == 1 and 0.4 < alpha < 0.6
    assert len(crowd.bones(alpha)) == 2 * 27 * 7
    assert crowd.hash() != hash
    world.restore(save)
    assert crowd.hash() == hash and [a.row for a in crowd.agents()] == [0, 1]
    crowd.goals([mannequin.goal(kind=mannequin.GOAL_PLACE, place=(0, 0, 0), radius=0.5, speed=1)] * 2)
    agent.destroy()
    assert "destroyed" in error(lambda: agent.row, 3) and len(crowd) == 1
    error(lambda: agent.goal(speed=math.nan), 3)
    error(lambda: world.restore(save[:100]), 7)
    first = [round(x, 2) for x in crowd.bones()[0:3]]
print("hips at", first)
