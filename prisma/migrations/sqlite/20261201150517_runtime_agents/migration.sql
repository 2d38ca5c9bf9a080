-- CreateTable
CREATE TABLE "RuntimeAgent" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "tenantId" TEXT NOT NULL,
    "createdBy" TEXT NOT NULL,
    "base" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "instructions" TEXT,
    "model" TEXT,
    "tools" TEXT NOT NULL,
    "suggestions" BOOLEAN,
    "active" BOOLEAN NOT NULL,
    "revision" INTEGER NOT NULL,
    "createdAt" DATETIME NOT NULL,
    "updatedAt" DATETIME NOT NULL
);

-- CreateTable
CREATE TABLE "Revision" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "number" INTEGER NOT NULL
);
