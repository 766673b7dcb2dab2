# A program for poise.Program, in base R: it answers requests until its input ends.
fit_and_predict <- function(train, test) { # the response is the last column of train
  response <- as.name(names(train)[ncol(train)])
  model <- lm(eval(bquote(.(response) ~ .)), data = train)
  predict(model, test)
}

requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  k <- scan(text = line, quiet = TRUE) # number of the request, seed, rows to train on and to predict
  train <- read.csv(text = readLines(requests, k[3] + 1), check.names = FALSE)
  test <- read.csv(text = readLines(requests, k[4] + 1), check.names = FALSE)
  set.seed(k[2])
  found <- sprintf("%.17g", fit_and_predict(train, test))
  writeLines(paste("predictions", k[1], paste(found, collapse = ",")))
  flush(stdout())
}
