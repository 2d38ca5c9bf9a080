-- CreateTable
CREATE TABLE "Message" (
    "threadKey" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "clientId" TEXT,
    "parentId" TEXT,
    "position" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "parts" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "searchText" TEXT NOT NULL DEFAULT '',
    "runId" TEXT,
    "model" TEXT,
    "finishReason" TEXT,
    "usage" TEXT,
    "costUsd" DOUBLE PRECISION,
    "errorCode" TEXT,
    "errorRef" TEXT,
    "startedAt" TIMESTAMP(3),
    "completedAt" TIMESTAMP(3),
    "createdAt" TIMESTAMP(3) NOT NULL,
    "deletedAt" TIMESTAMP(3),

    CONSTRAINT "Message_pkey" PRIMARY KEY ("threadKey","id")
);

-- CreateTable
CREATE TABLE "Rating" (
    "threadKey" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "tenantId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "value" INTEGER NOT NULL,
    "comment" TEXT,
    "updatedAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "Rating_pkey" PRIMARY KEY ("threadKey","messageId","tenantId","userId")
);

-- CreateTable
CREATE TABLE "Run" (
    "id" TEXT NOT NULL,
    "threadKey" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "activeThreadKey" TEXT,
    "holder" TEXT NOT NULL,
    "leaseUntil" TIMESTAMP(3) NOT NULL,
    "errorCode" TEXT,
    "errorRef" TEXT,
    "createdAt" TIMESTAMP(3) NOT NULL,
    "endedAt" TIMESTAMP(3),

    CONSTRAINT "Run_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Thread" (
    "key" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "tenantId" TEXT NOT NULL,
    "ownerId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "title" TEXT,
    "titleSearch" TEXT NOT NULL DEFAULT '',
    "metadata" TEXT NOT NULL,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "headId" TEXT,
    "lastPosition" INTEGER NOT NULL DEFAULT 0,
    "messageCount" INTEGER NOT NULL DEFAULT 0,
    "createdAt" TIMESTAMP(3) NOT NULL,
    "updatedAt" TIMESTAMP(3) NOT NULL,
    "lastMessageAt" TIMESTAMP(3),
    "activeAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "Thread_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "Usage" (
    "id" TEXT NOT NULL,
    "threadKey" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "agentPath" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "input" INTEGER NOT NULL,
    "output" INTEGER NOT NULL,
    "reasoning" INTEGER NOT NULL,
    "cachedRead" INTEGER NOT NULL,
    "cacheWrite" INTEGER NOT NULL,
    "costUsd" DOUBLE PRECISION,
    "estimated" BOOLEAN NOT NULL,
    "createdAt" TIMESTAMP(3) NOT NULL,

    CONSTRAINT "Usage_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Message_threadKey_parentId_position_idx" ON "Message"("threadKey", "parentId", "position");

-- CreateIndex
CREATE INDEX "Message_threadKey_clientId_idx" ON "Message"("threadKey", "clientId");

-- CreateIndex
CREATE UNIQUE INDEX "Message_threadKey_position_key" ON "Message"("threadKey", "position");

-- CreateIndex
CREATE UNIQUE INDEX "Run_activeThreadKey_key" ON "Run"("activeThreadKey");

-- CreateIndex
CREATE INDEX "Run_threadKey_idx" ON "Run"("threadKey");

-- CreateIndex
CREATE INDEX "Run_status_holder_idx" ON "Run"("status", "holder");

-- CreateIndex
CREATE INDEX "Thread_tenantId_ownerId_activeAt_key_idx" ON "Thread"("tenantId", "ownerId", "activeAt", "key");

-- CreateIndex
CREATE UNIQUE INDEX "Thread_tenantId_ownerId_id_key" ON "Thread"("tenantId", "ownerId", "id");

-- CreateIndex
CREATE INDEX "Usage_threadKey_agentPath_model_idx" ON "Usage"("threadKey", "agentPath", "model");

-- AddForeignKey
ALTER TABLE "Message" ADD CONSTRAINT "Message_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Message" ADD CONSTRAINT "Message_threadKey_parentId_fkey" FOREIGN KEY ("threadKey", "parentId") REFERENCES "Message"("threadKey", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "Rating" ADD CONSTRAINT "Rating_threadKey_messageId_fkey" FOREIGN KEY ("threadKey", "messageId") REFERENCES "Message"("threadKey", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Run" ADD CONSTRAINT "Run_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Run" ADD CONSTRAINT "Run_activeThreadKey_fkey" FOREIGN KEY ("activeThreadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Usage" ADD CONSTRAINT "Usage_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread"("key") ON DELETE CASCADE ON UPDATE CASCADE;
