// As much of Unreal's types as the plugin needs to compile and run in a test. It is not Unreal: it says that names and types fit
// together as they are written here, and what the plugin does with them. Other headers of this folder include this one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define MANNEQUIN_API
#define TEXT(x) x
#define TCHAR_TO_UTF8(x) (x)
#define UTF8_TO_TCHAR(x) (x)
#define UCLASS(...)
#define UPROPERTY(...)
#define UFUNCTION(...)
#define GENERATED_BODY()
#define DECLARE_LOG_CATEGORY_EXTERN(name, level, most)
#define DEFINE_LOG_CATEGORY(name)
#define UE_LOG(category, level, ...) (errors++, std::printf("%s: ", #level), std::printf(__VA_ARGS__), std::printf("\n"))
#define RETURN_QUICK_DECLARE_CYCLE_STAT(name, group) return TStatId()
#define IMPLEMENT_MODULE(type, name)

inline int errors; // logged

typedef int32_t int32;
typedef uint8_t uint8;
struct TStatId { };

struct FString : std::string
{
	using std::string::string;
	FString(std::string s) : std::string(std::move(s)) { }
	const char* operator*() const { return c_str(); }
};

struct FName
{
	std::string text;
	explicit FName(const char* from) : text(from) { }
	bool operator<(const FName& other) const { return text < other.text; }
};

template <class T> struct TArray : std::vector<T>
{
	int32 Num() const { return int32(this->size()); }
	T* GetData() { return this->data(); }
	void Add(const T& v) { this->push_back(v); }
	T& Last() { return this->back(); }
	void Empty() { this->clear(); }
	void SetNum(int32 n) { this->resize(n); }
	bool IsValidIndex(int32 i) const { return i >= 0 && i < Num(); }
	int32 Remove(const T& v)
	{
		auto end = std::remove(this->begin(), this->end(), v);
		int32 n = int32(this->end() - end);
		this->erase(end, this->end());
		return n;
	}
};

struct FVector
{
	double X = 0, Y = 0, Z = 0;
	FVector() = default;
	FVector(double x, double y, double z) : X(x), Y(y), Z(z) { }
	FVector operator+(const FVector& v) const { return FVector(X + v.X, Y + v.Y, Z + v.Z); }
	FVector operator-(const FVector& v) const { return FVector(X - v.X, Y - v.Y, Z - v.Z); }
	double Size() const { return std::sqrt(X * X + Y * Y + Z * Z); }
};

struct FQuat
{
	double X, Y, Z, W;
	FQuat(double x, double y, double z, double w) : X(x), Y(y), Z(z), W(w) { }
};

struct FRotator
{
	double Pitch = 0, Yaw = 0, Roll = 0;
	FRotator() = default;
	FRotator(double pitch, double yaw, double roll) : Pitch(pitch), Yaw(yaw), Roll(roll) { }
};

struct FTransform
{
	FQuat rotation;
	FVector position;
	FTransform(const FQuat& q, const FVector& v) : rotation(q), position(v) { }
};

struct FMath
{
	static double RadiansToDegrees(double r) { return r * 180 / M_PI; }
	static double DegreesToRadians(double d) { return d * M_PI / 180; }
};

struct FPaths { static FString ProjectContentDir() { return ""; } };

struct FFileHelper
{
	static bool LoadFileToArray(TArray<uint8>& to, const char* path)
	{
		std::ifstream f(path, std::ios::binary);
		to.assign(std::istreambuf_iterator<char>(f), {});
		return bool(f);
	}
};

struct FSubsystemCollectionBase { };

class UTickableWorldSubsystem
{
public:
	typedef UTickableWorldSubsystem Super;
	virtual ~UTickableWorldSubsystem() = default;
	virtual void Initialize(FSubsystemCollectionBase&) { }
	virtual void Deinitialize() { }
	virtual void Tick(float) { }
	virtual TStatId GetStatId() const = 0;
};

class UWorld
{
public:
	UTickableWorldSubsystem* subsystem = nullptr; // at most one
	template <class T> T* GetSubsystem() { return static_cast<T*>(subsystem); }
};

namespace EEndPlayReason { enum Type { Destroyed }; }
namespace EBoneSpaces { enum Type { WorldSpace, ComponentSpace }; }

class UPoseableMeshComponent
{
public:
	std::map<FName, FTransform> bones;
	void SetBoneTransformByName(FName bone, const FTransform& to, EBoneSpaces::Type space)
	{
		if (space == EBoneSpaces::ComponentSpace)
			bones.insert_or_assign(bone, to);
	}
};

class AActor
{
public:
	UPoseableMeshComponent* mesh = nullptr;
	double wall = 1e9; // X that a sweep does not pass
	FVector location;
	FRotator rotation;
	FVector GetActorLocation() const { return location; }
	FRotator GetActorRotation() const { return rotation; }
	FString GetName() const { return "an actor"; }
	bool SetActorRotation(FRotator r) { rotation = r; return true; }
	bool SetActorLocation(const FVector& to, bool sweep)
	{
		location = to;
		if (sweep)
			location.X = std::min(location.X, wall);
		return location.X == to.X;
	}
	template <class T> T* FindComponentByClass() const { return mesh; }
};

class UActorComponent
{
public:
	typedef UActorComponent Super;
	AActor* owner = nullptr;
	UWorld* world = nullptr;
	virtual ~UActorComponent() = default;
	AActor* GetOwner() const { return owner; }
	UWorld* GetWorld() const { return world; }
	virtual void BeginPlay() { }
	virtual void EndPlay(const EEndPlayReason::Type) { }
};
