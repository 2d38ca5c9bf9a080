-- CreateTable
CREATE TABLE "Artifact" (
    "threadKey" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "callId" TEXT NOT NULL,
    "sourceCallId" TEXT,
    "agentPath" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "createdAt" DATETIME NOT NULL,

    PRIMARY KEY ("threadKey", "id"),
    CONSTRAINT "Artifact_threadKey_messageId_fkey" FOREIGN KEY ("threadKey", "messageId") REFERENCES "Message" ("threadKey", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateIndex
CREATE INDEX "Artifact_threadKey_messageId_idx" ON "Artifact"("threadKey", "messageId");
