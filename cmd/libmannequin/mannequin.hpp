// mannequin for C++17: the functions of mannequin.h as classes that own what they make, and errors as exceptions. Nothing
// else is needed: it is a header alone.
//
//     mannequin::Model dog(bytes);
//     mannequin::World world;
//     mannequin::Crowd crowd = world.crowd(dog, 100);
//     mannequin::Agent agent = crowd.spawn({0, 0, 0}, 0);
//
// A world must live longer than its crowds and agents; models and clips may end before. What mannequin.h says of threads
// holds here.

#ifndef MANNEQUIN_HPP
#define MANNEQUIN_HPP

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mannequin.h"

namespace mannequin {

// Error is what functions throw: the code and the text of mqGetLastError.
class Error : public std::exception {
public:
	explicit Error(mqResult result) : code(result) {
		text.resize(static_cast<std::size_t>(mqGetLastError(nullptr, 0)));
		mqGetLastError(text.data(), static_cast<int32_t>(text.size() + 1));
	}
	const char* what() const noexcept override { return text.c_str(); }

	const mqResult code;

private:
	std::string text;
};

inline void check(mqResult result) {
	if (result != mq_ok)
		throw Error(result);
}

// Owner is an id that is destroyed with its owner. It can be moved, not copied.
template <class Id, mqResult (*Destroy)(Id)>
class Owner {
public:
	Owner() = default;
	explicit Owner(Id owned) : of(owned) {}
	Owner(Owner&& o) noexcept : of(std::exchange(o.of, Id{})) {}
	Owner& operator=(Owner&& o) noexcept {
		std::swap(of, o.of);
		return *this;
	}
	~Owner() {
		if (!MQ_IS_NULL(of))
			Destroy(of);
	}
	Id id() const { return of; }

private:
	Id of{};
};

class Model : public Owner<mqModelId, mqDestroyModel> {
public:
	Model(const void* bytes, std::size_t size) : Owner(make(bytes, size)) {}
	template <class Bytes>
	explicit Model(const Bytes& bytes) : Model(bytes.data(), bytes.size() * sizeof *bytes.data()) {}

	mqModelInfo info() const {
		mqModelInfo i;
		check(mqModel_GetInfo(id(), &i));
		return i;
	}
	mqJoint joint(int32_t index, const mqSpace* space = nullptr) const {
		mqJoint j;
		check(mqModel_GetJoint(id(), index, space, &j));
		return j;
	}
	int32_t findJoint(const char* name) const {
		int32_t i;
		check(mqModel_FindJoint(id(), name, &i));
		return i;
	}
	int32_t findAction(const char* name) const {
		int32_t a;
		check(mqModel_FindAction(id(), name, &a));
		return a;
	}

private:
	static mqModelId make(const void* bytes, std::size_t size) {
		mqModelId m;
		check(mqCreateModel(bytes, size, &m));
		return m;
	}
};

class Clip : public Owner<mqClipId, mqDestroyClip> {
public:
	Clip(const Model& model, const mqClipDef& def) : Owner(make(model, def)) {}

	double seconds(bool loop = false) const {
		double s;
		check(mqClip_GetSeconds(id(), loop, &s));
		return s;
	}

private:
	static mqClipId make(const Model& model, const mqClipDef& def) {
		mqClipId c;
		check(mqCreateClip(model.id(), &def, &c));
		return c;
	}
};

// Agent is one of a crowd. It may be copied: it is an id, and lives until destroy or with its crowd.
struct Agent {
	mqAgentId id;

	void destroy() const { check(mqDestroyAgent(id)); }
	int32_t row() const {
		int32_t r;
		check(mqAgent_GetRow(id, &r));
		return r;
	}
	void goal(const mqGoal& g) const { check(mqAgent_SetGoal(id, &g)); }
	void place(mqVec3 position, float heading) const { check(mqAgent_SetPlace(id, position, heading)); }
	void nudge(mqVec3 by) const { check(mqAgent_Nudge(id, by)); }
	void updateRate(int32_t rate) const { check(mqAgent_SetUpdateRate(id, rate)); }
	void lookAt(mqVec3 target, float weight = 1) const { check(mqAgent_SetLookAt(id, target, weight)); }
	void hand(int32_t side, mqVec3 target, float weight = 1, float seconds = 0) const { check(mqAgent_SetHand(id, side, target, weight, seconds)); }
	void play(const Clip& clip, const mqPlayDef& def = mqDefaultPlayDef()) const { check(mqAgent_PlayClip(id, clip.id(), &def)); }
	void stop(int32_t layer, float seconds = 0) const { check(mqAgent_StopClip(id, layer, seconds)); }
	void layer(int32_t layer, float weight, float speed) const { check(mqAgent_SetLayer(id, layer, weight, speed)); }
};

class Crowd : public Owner<mqCrowdId, mqDestroyCrowd> {
public:
	using Owner::Owner;

	Agent spawn(mqVec3 position, float heading) const {
		mqAgentDef def = mqDefaultAgentDef();
		def.position = position;
		def.heading = heading;
		Agent a;
		check(mqCreateAgent(id(), &def, &a.id));
		return a;
	}
	int32_t size() const {
		int32_t n;
		check(mqCrowd_GetAgents(id(), nullptr, 0, &n));
		return n;
	}
	// The agents by row.
	std::vector<Agent> agents() const {
		std::vector<Agent> all(static_cast<std::size_t>(size()));
		int32_t n;
		check(mqCrowd_GetAgents(id(), reinterpret_cast<mqAgentId*>(all.data()), static_cast<int32_t>(all.size()), &n));
		return all;
	}
	// One goal for each row.
	void goals(const std::vector<mqGoal>& all) const { check(mqCrowd_SetGoals(id(), all.data(), static_cast<int32_t>(all.size()), 0)); }
	// Writes the bones into the caller's memory, and returns the number of agents.
	int32_t bones(void* dst, std::size_t size, float alpha = 1, const mqBoneLayout& layout = mqDefaultBoneLayout()) const {
		int32_t n;
		check(mqCrowd_GetBones(id(), &layout, alpha, dst, size, &n));
		return n;
	}
	// Fill a vector, which keeps its memory from frame to frame.
	void roots(std::vector<mqRoot>& dst, float alpha = 1) const {
		dst.resize(static_cast<std::size_t>(size()));
		int32_t n;
		check(mqCrowd_GetRoots(id(), alpha, dst.data(), 0, static_cast<int32_t>(dst.size()), &n));
	}
	void events(std::vector<mqEvent>& dst) const {
		int32_t n;
		check(mqCrowd_GetEvents(id(), nullptr, 0, &n));
		dst.resize(static_cast<std::size_t>(n));
		check(mqCrowd_GetEvents(id(), dst.data(), n, &n));
	}
	void applyLOD(const mqLODPolicy& policy, mqVec3 eye, mqVec3 ahead, float saving = 0) const { check(mqCrowd_ApplyLOD(id(), &policy, eye, ahead, saving)); }
	uint64_t hash() const {
		uint64_t h;
		check(mqCrowd_GetHash(id(), &h));
		return h;
	}
};

// Ground writes the ground at a place; Move decides how far agents go. See mqGroundFcn and mqMoveFcn. They must not throw.
using Ground = std::function<void(const mqGroundQuery&, mqGroundHit&)>;
using Move = std::function<void(mqCrowdId, mqMove*, int32_t)>;

class World : public Owner<mqWorldId, mqDestroyWorld> {
public:
	explicit World(const mqWorldDef& def = mqDefaultWorldDef()) : Owner(make(def)) {}

	Crowd crowd(const Model& model, int32_t capacity) const {
		mqCrowdDef def = mqDefaultCrowdDef();
		def.model = model.id();
		def.capacity = capacity;
		return crowd(def);
	}
	Crowd crowd(const mqCrowdDef& def) const {
		mqCrowdId c;
		check(mqCreateCrowd(id(), &def, &c));
		return Crowd(c);
	}
	void tick() const { check(mqWorld_Tick(id())); }
	// Moves on by the time of a frame, and returns the alpha of bones and roots.
	float step(double seconds) const {
		float alpha;
		check(mqWorld_Step(id(), seconds, nullptr, &alpha));
		return alpha;
	}
	void groundLevel(float height) const { check(mqWorld_SetGroundLevel(id(), height)); }
	void groundMesh(const std::vector<mqVec3>& vertices, const std::vector<int32_t>& indices) const {
		check(mqWorld_SetGroundMesh(id(), vertices.data(), static_cast<int32_t>(vertices.size()), indices.data(), static_cast<int32_t>(indices.size())));
	}
	void ground(Ground f) {
		auto next = std::make_unique<Ground>(std::move(f));
		check(mqWorld_SetGroundCallback(id(), [](const mqGroundQuery* q, mqGroundHit* hit, void* context) { (*static_cast<Ground*>(context))(*q, *hit); }, next.get()));
		groundOf = std::move(next);
	}
	void move(Move f) {
		auto next = std::make_unique<Move>(std::move(f));
		check(mqWorld_SetMoveCallback(id(), [](mqCrowdId crowd, mqMove* moves, int32_t count, void* context) { (*static_cast<Move*>(context))(crowd, moves, count); }, next.get()));
		moveOf = std::move(next);
	}
	void obstacles(const std::vector<mqObstacle>& all) const { check(mqWorld_SetObstacles(id(), all.data(), static_cast<int32_t>(all.size()))); }
	void shiftOrigin(mqVec3 by) const { check(mqWorld_ShiftOrigin(id(), by)); }
	// Saves into a vector, which keeps its memory from save to save.
	void save(std::vector<unsigned char>& dst) const {
		dst.resize(dst.capacity());
		std::size_t size;
		mqResult r = mqWorld_Save(id(), dst.data(), dst.size(), &size);
		if (r == mq_errorSize) {
			dst.resize(size);
			r = mqWorld_Save(id(), dst.data(), dst.size(), &size);
		}
		check(r);
		dst.resize(size);
	}
	void restore(const std::vector<unsigned char>& src) const { check(mqWorld_Restore(id(), src.data(), src.size())); }

private:
	static mqWorldId make(const mqWorldDef& def) {
		mqWorldId w;
		check(mqCreateWorld(&def, &w));
		return w;
	}
	std::unique_ptr<Ground> groundOf; // where they are does not change when the world is moved
	std::unique_ptr<Move> moveOf;
};

} // namespace mannequin

#endif // MANNEQUIN_HPP
