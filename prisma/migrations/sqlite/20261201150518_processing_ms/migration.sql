-- AlterTable
ALTER TABLE "Message" ADD COLUMN "processingMs" INTEGER;
