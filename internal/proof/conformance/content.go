package main

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

func addResources(srv *sdkserver.MCPServer) {
	text := func(uri, name, body string) {
		srv.AddResource(sdk.NewResource(uri, name, sdk.WithResourceDescription(name), sdk.WithMIMEType("text/plain")),
			func(context.Context, sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
				return []sdk.ResourceContents{sdk.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: body}},
					nil
			})
	}
	text("test://static-text", "Static text", "This is the content of the static text resource.")
	text("test://watched-resource", "Watched text", "This resource can be subscribed to.")
	srv.AddResource(sdk.NewResource("test://static-binary", "Static image", sdk.WithResourceDescription("A red pixel"),
		sdk.WithMIMEType("image/png")),
		func(context.Context, sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
			return []sdk.ResourceContents{sdk.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png",
				Blob: redPixel()}}, nil
		})
	srv.AddResourceTemplate(sdk.NewResourceTemplate("test://template/{id}/data", "Data by id",
		sdk.WithTemplateDescription("Data by id"), sdk.WithTemplateMIMEType("application/json")), templated)
}

func templated(_ context.Context, req sdk.ReadResourceRequest) ([]sdk.ResourceContents, error) {
	var id string
	if _, err := fmt.Sscanf(req.Params.URI, "test://template/%s", &id); err != nil {
		return nil, err
	}
	id = id[:len(id)-len("/data")]
	body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
	if err != nil {
		return nil, err
	}
	return []sdk.ResourceContents{sdk.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json",
		Text: string(body)}}, nil
}

// prompt is a prompt of fixed user messages.
func prompt(content ...sdk.Content) sdkserver.PromptHandlerFunc {
	return func(context.Context, sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return messages(content...), nil
	}
}

func messages(content ...sdk.Content) *sdk.GetPromptResult {
	out := &sdk.GetPromptResult{}
	for _, c := range content {
		out.Messages = append(out.Messages, sdk.NewPromptMessage(sdk.RoleUser, c))
	}
	return out
}

func addPrompts(srv *sdkserver.MCPServer) {
	argument := func(name string) sdk.PromptOption {
		return sdk.WithArgument(name, sdk.ArgumentDescription("A test argument"), sdk.RequiredArgument())
	}
	srv.AddPrompt(sdk.NewPrompt("test_simple_prompt", sdk.WithPromptDescription("A fixed text.")),
		prompt(sdk.NewTextContent("This is a simple prompt for testing.")))
	srv.AddPrompt(sdk.NewPrompt("test_prompt_with_image", sdk.WithPromptDescription("An image and a text.")),
		prompt(sdk.NewImageContent(redPixel(), "image/png"), sdk.NewTextContent("Please analyze the image above.")))
	srv.AddPrompt(sdk.NewPrompt("test_prompt_with_arguments", sdk.WithPromptDescription("Repeats its arguments."),
		argument("arg1"), argument("arg2")),
		func(_ context.Context, req sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			a := req.Params.Arguments
			return messages(sdk.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"],
				a["arg2"]))), nil
		})
	srv.AddPrompt(sdk.NewPrompt("test_prompt_with_embedded_resource", sdk.WithPromptDescription("Embeds a resource."),
		argument("resourceUri")),
		func(_ context.Context, req sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return messages(
				sdk.NewEmbeddedResource(sdk.TextResourceContents{
					URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain",
					Text: "Embedded resource content for testing.",
				}),
				sdk.NewTextContent("Please process the embedded resource above."),
			), nil
		})
	srv.AddPrompt(sdk.NewPrompt("test_input_required_result_prompt",
		sdk.WithPromptDescription("Asks for its context.")),
		func(_ context.Context, req sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			answer := sdkserver.ElicitationResponse(req.Params.InputResponses, "user_context")
			if answer == nil {
				return sdkserver.NewInputRequestBuilder("").Elicit("user_context",
					form("What context should the prompt use?", "context")).PromptResult(), nil
			}
			return messages(sdk.NewTextContent(fmt.Sprintf("The context is %v.", answer.Content))), nil
		})
}

// completions completes every prompt argument with the same words.
type completions struct{}

func (completions) CompletePromptArgument(context.Context, string, sdk.CompleteArgument,
	sdk.CompleteContext) (*sdk.Completion, error) {
	return &sdk.Completion{Values: []string{"paris", "park", "party"}, Total: 3}, nil
}
