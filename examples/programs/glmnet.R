# One-shot: the lasso. Cross-validation with random folds chooses its penalty.
#   Rscript --vanilla glmnet.R {train} {test} {predictions} {seed}
suppressPackageStartupMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
train <- read.csv(arguments[1], check.names = FALSE)
test <- read.csv(arguments[2], check.names = FALSE)
set.seed(as.integer(arguments[4]))

last <- ncol(train)
lasso <- cv.glmnet(as.matrix(train[-last]), train[[last]])
numbers <- predict(lasso, as.matrix(test), s = "lambda.min")
writeLines(sprintf("%.17g", numbers), arguments[3])
