#include "MannequinSubsystem.h"

#include "Components/PoseableMeshComponent.h"
#include "GameFramework/Actor.h"
#include "MannequinComponent.h"
#include "MannequinLog.h"
#include "Misc/FileHelper.h"
#include "Misc/Paths.h"

DEFINE_LOG_CATEGORY(LogMannequin);

bool MannequinCheck(mqResult Result)
{
	if (Result == mq_ok)
		return true;
	char Text[1024];
	mqGetLastError(Text, sizeof Text);
	UE_LOG(LogMannequin, Error, TEXT("%s"), UTF8_TO_TCHAR(Text));
	return false;
}

namespace
{
	constexpr int32 MaxAgents = 1000; // of a crowd

	bool Same(mqAgentId A, mqAgentId B) { return A.index1 == B.index1 && A.generation == B.generation; }
	FVector ToVector(const mqVec3& V) { return FVector(V.x, V.y, V.z); }
	FVector Raised(const mqVec3& V, const UMannequinComponent* Component) { return ToVector(V) + FVector(0, 0, Component->OriginHeight); }
}

void UMannequinSubsystem::Initialize(FSubsystemCollectionBase& Collection)
{
	Super::Initialize(Collection);
	mqWorldDef Def = mqDefaultWorldDef();
	Def.space = mqGetSpace(mq_engineUnreal);
	if (MannequinCheck(mqCreateWorld(&Def, &World)))
		MannequinCheck(mqWorld_SetMoveCallback(World, &UMannequinSubsystem::Move, this));
}

void UMannequinSubsystem::Deinitialize()
{
	MannequinCheck(mqDestroyWorld(World));
	for (FCrowd& Crowd : Crowds)
		MannequinCheck(mqDestroyModel(Crowd.Model));
	Crowds.Empty();
	Super::Deinitialize();
}

TStatId UMannequinSubsystem::GetStatId() const
{
	RETURN_QUICK_DECLARE_CYCLE_STAT(UMannequinSubsystem, STATGROUP_Tickables);
}

UMannequinSubsystem::FCrowd* UMannequinSubsystem::FindOrOpen(const FString& File)
{
	for (FCrowd& Crowd : Crowds)
		if (Crowd.File == File)
			return &Crowd;
	TArray<uint8> Bytes;
	const FString Path = FPaths::ProjectContentDir() + File;
	if (!FFileHelper::LoadFileToArray(Bytes, *Path))
	{
		UE_LOG(LogMannequin, Error, TEXT("%s cannot be read"), *Path);
		return nullptr;
	}
	FCrowd Crowd;
	Crowd.File = File;
	if (!MannequinCheck(mqCreateModel(Bytes.GetData(), Bytes.Num(), &Crowd.Model)))
		return nullptr;
	mqModelInfo Info;
	mqCrowdDef Def = mqDefaultCrowdDef();
	Def.model = Crowd.Model;
	Def.capacity = MaxAgents;
	if (!MannequinCheck(mqModel_GetInfo(Crowd.Model, &Info)) || !MannequinCheck(mqCreateCrowd(World, &Def, &Crowd.Crowd)))
	{
		mqDestroyModel(Crowd.Model);
		return nullptr;
	}
	for (int32 i = 0; i < Info.joints; i++)
	{
		mqJoint Joint = {};
		MannequinCheck(mqModel_GetJoint(Crowd.Model, i, nullptr, &Joint));
		Crowd.Joints.Add(FName(Joint.name));
	}
	Crowds.Add(Crowd);
	return &Crowds.Last();
}

bool UMannequinSubsystem::Add(UMannequinComponent* Component)
{
	FCrowd* Crowd = FindOrOpen(Component->ModelFile);
	if (!Crowd)
		return false;
	const FVector At = Component->GetOwner()->GetActorLocation();
	mqAgentDef Def = mqDefaultAgentDef();
	Def.position = { float(At.X), float(At.Y), float(At.Z) - Component->OriginHeight };
	Def.heading = float(FMath::DegreesToRadians(Component->GetOwner()->GetActorRotation().Yaw));
	if (!MannequinCheck(mqCreateAgent(Crowd->Crowd, &Def, &Component->Agent)))
		return false;
	Component->Model = Crowd->Model;
	Crowd->Members.Add(Component);
	return true;
}

void UMannequinSubsystem::Remove(UMannequinComponent* Component)
{
	for (FCrowd& Crowd : Crowds)
		if (Crowd.Members.Remove(Component) > 0)
			MannequinCheck(mqDestroyAgent(Component->Agent));
	Component->Agent = { 0, 0 };
}

UMannequinComponent* UMannequinSubsystem::FindMember(const FCrowd& Crowd, mqAgentId Agent, int32 Hint)
{
	if (Crowd.Members.IsValidIndex(Hint) && Same(Crowd.Members[Hint]->Agent, Agent))
		return Crowd.Members[Hint];
	for (UMannequinComponent* Member : Crowd.Members)
		if (Same(Member->Agent, Agent))
			return Member;
	return nullptr;
}

// Sweeps the actors as far as they can go, and their agents with them. Heights are the agents' own.
void UMannequinSubsystem::Move(mqCrowdId Id, mqMove* Moves, int32_t Count, void* Context)
{
	for (const FCrowd& Crowd : static_cast<UMannequinSubsystem*>(Context)->Crowds)
	{
		if (Crowd.Crowd.index1 != Id.index1 || Crowd.Crowd.generation != Id.generation)
			continue;
		for (int32 i = 0; i < Count; i++)
		{
			UMannequinComponent* Member = FindMember(Crowd, Moves[i].agent, i);
			if (!Member)
				continue;
			AActor* Actor = Member->GetOwner();
			Actor->SetActorLocation(Raised(Moves[i].before, Member), false);
			Actor->SetActorLocation(Raised(Moves[i].after, Member), true);
			const FVector At = Actor->GetActorLocation();
			Moves[i].after.x = float(At.X);
			Moves[i].after.y = float(At.Y);
		}
	}
}

void UMannequinSubsystem::Tick(float DeltaTime)
{
	Super::Tick(DeltaTime);
	float Alpha;
	if (!MannequinCheck(mqWorld_Step(World, DeltaTime, nullptr, &Alpha)))
		return;
	for (FCrowd& Crowd : Crowds)
		Pose(Crowd, Alpha);
}

void UMannequinSubsystem::Pose(FCrowd& Crowd, float Alpha)
{
	const int32 Joints = Crowd.Joints.Num();
	Crowd.Roots.SetNum(Crowd.Members.Num());
	Crowd.Bones.SetNum(Crowd.Members.Num() * Joints * 7);
	mqBoneLayout Layout = mqDefaultBoneLayout();
	Layout.relativeTo = mq_bonesRoot;
	int32_t Count;
	if (!MannequinCheck(mqCrowd_GetRoots(Crowd.Crowd, Alpha, Crowd.Roots.GetData(), 0, Crowd.Roots.Num(), &Count)) ||
		!MannequinCheck(mqCrowd_GetBones(Crowd.Crowd, &Layout, Alpha, Crowd.Bones.GetData(), Crowd.Bones.Num() * sizeof(float), &Count)))
		return;
	for (int32 Row = 0; Row < Count; Row++)
	{
		UMannequinComponent* Member = FindMember(Crowd, Crowd.Roots[Row].agent, Row);
		if (!Member)
			continue;
		AActor* Actor = Member->GetOwner();
		Actor->SetActorLocation(Raised(Crowd.Roots[Row].position, Member), false);
		Actor->SetActorRotation(FRotator(0, FMath::RadiansToDegrees(Crowd.Roots[Row].heading), 0));
		for (int32 Joint = 0; Joint < Joints; Joint++)
		{
			const float* B = &Crowd.Bones[(Row * Joints + Joint) * 7];
			const FTransform Bone(FQuat(B[3], B[4], B[5], B[6]), FVector(B[0], B[1], B[2]));
			Member->Mesh->SetBoneTransformByName(Crowd.Joints[Joint], Bone, EBoneSpaces::ComponentSpace);
		}
	}
}
