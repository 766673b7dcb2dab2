# One-shot: linear regression, one process per fit.
#   Rscript --vanilla lm.R {train} {test} {predictions}
files <- commandArgs(trailingOnly = TRUE)
train <- read.csv(files[1], check.names = FALSE)
test <- read.csv(files[2], check.names = FALSE)

response <- as.name(names(train)[ncol(train)]) # the response is always the last column
model <- lm(as.formula(call("~", response, quote(.))), data = train)

# 17 digits, so that not one bit of a prediction is lost.
writeLines(sprintf("%.17g", predict(model, test)), files[3])
