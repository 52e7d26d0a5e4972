#include "MannequinComponent.h"

#include "Components/PoseableMeshComponent.h"
#include "Engine/World.h"
#include "GameFramework/Actor.h"
#include "MannequinLog.h"
#include "MannequinSubsystem.h"

void UMannequinComponent::BeginPlay()
{
	Super::BeginPlay();
	Mesh = GetOwner()->FindComponentByClass<UPoseableMeshComponent>();
	if (!Mesh)
	{
		UE_LOG(LogMannequin, Error, TEXT("%s has no PoseableMesh component"), *GetOwner()->GetName());
		return;
	}
	if (UMannequinSubsystem* Subsystem = GetWorld()->GetSubsystem<UMannequinSubsystem>())
		Subsystem->Add(this);
}

void UMannequinComponent::EndPlay(const EEndPlayReason::Type Reason)
{
	if (UMannequinSubsystem* Subsystem = GetWorld()->GetSubsystem<UMannequinSubsystem>())
		Subsystem->Remove(this);
	Super::EndPlay(Reason);
}

void UMannequinComponent::SetGoal(const mqGoal& Goal)
{
	if (!MQ_IS_NULL(Agent)) // BeginPlay has logged why
		MannequinCheck(mqAgent_SetGoal(Agent, &Goal));
}

void UMannequinComponent::Steer(FVector Direction, float Speed)
{
	mqGoal Goal = {};
	Goal.kind = mq_goalStick;
	Goal.move = { float(Direction.X), float(Direction.Y), float(Direction.Z) };
	Goal.speed = Speed;
	SetGoal(Goal);
}

void UMannequinComponent::GoTo(FVector Place, float Radius, float Speed)
{
	mqGoal Goal = {};
	Goal.kind = mq_goalPlace;
	Goal.place = { float(Place.X), float(Place.Y), float(Place.Z) };
	Goal.radius = Radius;
	Goal.speed = Speed;
	SetGoal(Goal);
}

void UMannequinComponent::Act(const FString& Action)
{
	mqGoal Goal = {};
	if (!MQ_IS_NULL(Agent) && MannequinCheck(mqModel_FindAction(Model, TCHAR_TO_UTF8(*Action), &Goal.action)))
		SetGoal(Goal);
}
