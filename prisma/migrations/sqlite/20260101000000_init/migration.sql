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
    "costUsd" REAL,
    "errorCode" TEXT,
    "errorRef" TEXT,
    "startedAt" DATETIME,
    "completedAt" DATETIME,
    "createdAt" DATETIME NOT NULL,
    "deletedAt" DATETIME,

    PRIMARY KEY ("threadKey", "id"),
    CONSTRAINT "Message_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread" ("key") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Message_threadKey_parentId_fkey" FOREIGN KEY ("threadKey", "parentId") REFERENCES "Message" ("threadKey", "id") ON DELETE NO ACTION ON UPDATE NO ACTION
);

-- CreateTable
CREATE TABLE "Rating" (
    "threadKey" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "tenantId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "value" INTEGER NOT NULL,
    "comment" TEXT,
    "updatedAt" DATETIME NOT NULL,

    PRIMARY KEY ("threadKey", "messageId", "tenantId", "userId"),
    CONSTRAINT "Rating_threadKey_messageId_fkey" FOREIGN KEY ("threadKey", "messageId") REFERENCES "Message" ("threadKey", "id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "Run" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "threadKey" TEXT NOT NULL,
    "messageId" TEXT NOT NULL,
    "agentId" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "activeThreadKey" TEXT,
    "holder" TEXT NOT NULL,
    "leaseUntil" DATETIME NOT NULL,
    "errorCode" TEXT,
    "errorRef" TEXT,
    "createdAt" DATETIME NOT NULL,
    "endedAt" DATETIME,
    CONSTRAINT "Run_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread" ("key") ON DELETE CASCADE ON UPDATE CASCADE,
    CONSTRAINT "Run_activeThreadKey_fkey" FOREIGN KEY ("activeThreadKey") REFERENCES "Thread" ("key") ON DELETE CASCADE ON UPDATE CASCADE
);

-- CreateTable
CREATE TABLE "Thread" (
    "key" TEXT NOT NULL PRIMARY KEY,
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
    "createdAt" DATETIME NOT NULL,
    "updatedAt" DATETIME NOT NULL,
    "lastMessageAt" DATETIME,
    "activeAt" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "Usage" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "threadKey" TEXT NOT NULL,
    "runId" TEXT NOT NULL,
    "agentPath" TEXT NOT NULL,
    "model" TEXT NOT NULL,
    "input" INTEGER NOT NULL,
    "output" INTEGER NOT NULL,
    "reasoning" INTEGER NOT NULL,
    "cachedRead" INTEGER NOT NULL,
    "cacheWrite" INTEGER NOT NULL,
    "costUsd" REAL,
    "estimated" BOOLEAN NOT NULL,
    "createdAt" DATETIME NOT NULL,
    CONSTRAINT "Usage_threadKey_fkey" FOREIGN KEY ("threadKey") REFERENCES "Thread" ("key") ON DELETE CASCADE ON UPDATE CASCADE
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
